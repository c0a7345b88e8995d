"""What calls of models cost."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from workers.ledger.tables import UtcTime

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Go forward."""
    op.create_table(
        "model_calls",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at", UtcTime(), nullable=False),
        *(_text(name, size) for name, size in (("day", 10), ("tenant", 128))),
        *(_text(name, 256, null=True) for name in ("user_id", "group_id")),
        *(_text(name, 36, null=True) for name in ("document_id", "batch_id")),
        *(_text(name, size) for name, size in (("stage", 16), ("model", 255), ("outcome", 64))),
        *(sa.Column(name, sa.Boolean(), nullable=False) for name in ("cached", "failed", "estimated")),
        *(
            sa.Column(name, sa.Integer(), nullable=False)
            for name in ("attempt", "prompt_tokens", "completion_tokens")
        ),
        sa.Column("price_micro", sa.BigInteger(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_model_calls_document_id", "model_calls", ["document_id"])
    op.create_index("ix_model_calls_batch_id", "model_calls", ["batch_id"])
    op.create_index("ix_model_calls_tenant_day", "model_calls", ["tenant", "day"])


def downgrade() -> None:
    """Go back."""
    op.drop_table("model_calls")


def _text(name: str, length: int, *, null: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.String(length), nullable=null)
