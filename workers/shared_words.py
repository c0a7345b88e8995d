"""How much of a question's words a few texts share, where there is no index to ask."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from retrieval.tokenizer import tokenize


def shared_words(question: str, texts: Sequence[str]) -> list[float]:
    """Return for each text which part of the question's words it holds, 0 to 1.

    A word counts by how rare it is among the texts: smoothed inverse document frequency, as in BM25.
    """
    asked = set(tokenize(question))
    held = [asked & set(tokenize(text)) for text in texts]
    seen = Counter(word for words in held for word in words)
    weight = {word: math.log(1 + (len(texts) - seen[word] + 0.5) / (seen[word] + 0.5)) for word in asked}
    whole = sum(weight.values())
    return [sum(weight[word] for word in words) / whole if whole else 0.0 for words in held]
