"""How fast the calls of a key may come."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Go forward."""
    op.create_table(
        "paces",
        sa.Column("name", sa.String(64), nullable=False),
        *(sa.Column(name, sa.Float(), nullable=False) for name in ("requests_at", "tokens_at", "held_until")),
        sa.PrimaryKeyConstraint("name"),
    )


def downgrade() -> None:
    """Go back."""
    op.drop_table("paces")
