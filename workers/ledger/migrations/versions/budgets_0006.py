"""Budgets of batches, and why a document waits."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Go forward."""
    with op.batch_alter_table("documents") as table:
        table.add_column(sa.Column("waits_for", sa.String(64), nullable=True))
        table.create_index("ix_documents_waits_for", ["waits_for"])
    with op.batch_alter_table("batches") as table:
        for name in ("budget_micro", "budget_tokens"):
            table.add_column(sa.Column(name, sa.BigInteger(), nullable=True))


def downgrade() -> None:
    """Go back."""
    with op.batch_alter_table("batches") as table:
        for name in ("budget_tokens", "budget_micro"):
            table.drop_column(name)
    with op.batch_alter_table("documents") as table:
        table.drop_index("ix_documents_waits_for")
        table.drop_column("waits_for")
