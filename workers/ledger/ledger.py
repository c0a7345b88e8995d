"""The ledger: what was accepted and how far it is. It is the truth; queue, store and files follow it."""

from __future__ import annotations

from workers.conversation import ConversationKnobs
from workers.ledger.batches import Batches
from workers.ledger.budgets import Budgets
from workers.ledger.conversations import Conversations
from workers.ledger.database import Clock, Database, utc_now
from workers.ledger.documents import Documents
from workers.ledger.duties import Duties
from workers.ledger.forgotten import Forgotten
from workers.ledger.idempotency import Idempotency
from workers.ledger.insights import Insights
from workers.ledger.keys import ApiKeys
from workers.ledger.leases import LeaseRules, Leases
from workers.ledger.listing import Listing
from workers.ledger.messages import Messages
from workers.ledger.outbox import Outbox
from workers.ledger.purges import Purges
from workers.ledger.recovery import Recovery
from workers.ledger.stages import Stages
from workers.ledger.usages import Usages
from workers.ledger.versions import Versions


class Ledger:
    """Everything the ledger does, by subject.

    Build one per process, after a fork. Calls on behalf of a caller take the tenant as an argument and see
    nothing else; ``stages``, ``outbox``, ``recovery``, ``purges`` and ``duties`` serve the workers.

    Args:
        url: SQLAlchemy URL, ``sqlite:///path`` or ``postgresql+psycopg://user@host/name``.
        rules: leases and how often a stage is tried.
        clock: gives the time; tests hand in their own.
        leases: names holders and tells their fate; tests hand in their own. It brings its own rules.
        conversation: how conversations are cut.
    """

    def __init__(
        self, url: str, rules: LeaseRules | None = None, clock: Clock = utc_now,
        leases: Leases | None = None, conversation: ConversationKnobs | None = None,
    ) -> None:  # fmt: skip
        self.database = Database(url, clock)
        leases = leases or Leases(rules or LeaseRules())
        self.documents = Documents(self.database)
        self.listing = Listing(self.database)
        self.conversations = Conversations(self.database, conversation or ConversationKnobs())
        self.messages = Messages(self.database)
        self.forgotten = Forgotten(self.database)
        self.versions = Versions(self.database)
        self.insights = Insights(self.database)
        self.batches = Batches(self.database)
        self.stages = Stages(self.database, leases)
        self.recovery = Recovery(self.database, leases)
        self.outbox = Outbox(self.database)
        self.purges = Purges(self.database)
        self.keys = ApiKeys(self.database)
        self.idempotency = Idempotency(self.database)
        self.duties = Duties(self.database)
        self.usages = Usages(self.database)
        self.budgets = Budgets(self.database)

    def migrate(self) -> None:
        """Create the tables or bring them up to date. Safe to call by several processes at once."""
        from workers.ledger.migrate import upgrade  # half a second, and only starters need it

        upgrade(self.database)

    def ping(self) -> None:
        """Ask the database something.

        Raises:
            sqlalchemy.exc.SQLAlchemyError: it does not answer.
        """
        with self.database.read() as session:
            session.connection().exec_driver_sql("SELECT 1 FROM documents LIMIT 1")

    def close(self) -> None:
        """Close all connections."""
        self.database.close()
