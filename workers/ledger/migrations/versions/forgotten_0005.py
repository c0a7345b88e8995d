"""What was forgotten by request and has to stay out of memory."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Go forward."""
    op.create_table(
        "forgotten",
        sa.Column("document_id", sa.String(36), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.ForeignKeyConstraint(["document_id"], ["documents.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("document_id", "digest"),
    )


def downgrade() -> None:
    """Go back."""
    op.drop_table("forgotten")
