"""The names of a point's vectors."""

DENSE = "dense"
SPARSE = "sparse"
# The same two of a fact's surroundings; episodes go without.
CONTEXT_DENSE = "context"
CONTEXT_SPARSE = "context_terms"
