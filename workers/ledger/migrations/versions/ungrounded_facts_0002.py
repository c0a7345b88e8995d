"""How many facts of a document rest on words that are not in its text."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Go forward."""
    with op.batch_alter_table("documents") as table:
        table.add_column(sa.Column("ungrounded", sa.Integer(), nullable=False, server_default="0"))


def downgrade() -> None:
    """Go back."""
    with op.batch_alter_table("documents") as table:
        table.drop_column("ungrounded")
