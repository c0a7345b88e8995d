"""Documents that took the place of others of the same name."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from workers.ledger.tables import UtcTime

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Go forward."""
    op.add_column("documents", sa.Column("superseded_by", sa.String(36), nullable=True))
    op.add_column("documents", sa.Column("superseded_at", UtcTime(), nullable=True))
    op.add_column("documents", sa.Column("hidden", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.create_index("ix_documents_hidden", "documents", ["tenant", "hidden"])
    op.create_index("ix_documents_superseded_by", "documents", ["superseded_by"])


def downgrade() -> None:
    """Go back."""
    op.drop_index("ix_documents_superseded_by", "documents")
    op.drop_index("ix_documents_hidden", "documents")
    for column in ("hidden", "superseded_at", "superseded_by"):
        op.drop_column("documents", column)
