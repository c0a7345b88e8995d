"""What is learnt from conversations, and what it rests on."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from workers.ledger.tables import UtcTime

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Go forward."""
    op.create_table(
        "insights",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("tenant", sa.String(128), nullable=False),
        sa.Column("user_id", sa.String(256), nullable=True),
        sa.Column("group_id", sa.String(256), nullable=True),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("body", sa.JSON(), nullable=False),
        sa.Column("sources", sa.JSON(), nullable=False),
        sa.Column("maker", sa.String(255), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("updated_at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_insights_user", "insights", ["tenant", "user_id", "kind"])
    op.create_index("ix_insights_group", "insights", ["tenant", "group_id", "kind"])
    op.create_table(
        "insight_supports",
        sa.Column("insight_id", sa.String(36), nullable=False),
        sa.Column("document_id", sa.String(36), nullable=False),
        sa.Column("fact_id", sa.String(36), nullable=False),
        sa.ForeignKeyConstraint(["insight_id"], ["insights.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["document_id"], ["documents.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("insight_id", "document_id", "fact_id"),
    )
    op.create_index("ix_insight_supports_document", "insight_supports", ["document_id"])


def downgrade() -> None:
    """Go back."""
    op.drop_table("insight_supports")
    op.drop_table("insights")
