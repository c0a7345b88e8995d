"""BM25 as sparse vectors (Robertson & Zaragoza 2009, "The Probabilistic Relevance Framework").

The document side carries the saturated term frequency, the query side 1 per term, and the store multiplies
by the inverse document frequency (Qdrant's ``Modifier.IDF``), so their dot product is the BM25 sum.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from zlib import crc32

from extract.terms import stop_words
from retrieval.protocols import SparseVector
from retrieval.tokenizer import tokenize

_K1 = 1.2
_B = 0.75


def term_index(term: str) -> int:
    """Return the index of a term: CRC-32 cut to 31 bits; collisions are rare and harmless."""
    return crc32(term.encode("utf-8")) & 0x7FFFFFFF


def encode_document(text: str, average_length: float) -> SparseVector:
    """Return the saturated term frequencies of a stored text.

    Args:
        text: what is searched.
        average_length: mean number of terms per text in the collection; fixed, it shapes stored weights.
    """
    counts = Counter(term_index(term) for term in tokenize(text))
    length = sum(counts.values())
    norm = _K1 * (1 - _B + _B * length / average_length)
    pairs = sorted((index, count * (_K1 + 1) / (count + norm)) for index, count in counts.items())
    return SparseVector(tuple(index for index, _ in pairs), tuple(weight for _, weight in pairs))


def encode_query(text: str, language: str = "en") -> SparseVector:
    """Return the terms of a question, each with weight 1.

    Words that only hold a sentence together are left out, unless there are no others: by themselves they
    match nearly everything, and a long question would be ruled by them.

    Args:
        text: the question.
        language: whose stop words are left out.
    """
    terms = set(tokenize(text))
    telling = terms - _stop_terms(language)
    indices = sorted({term_index(term) for term in telling or terms})
    return SparseVector(tuple(indices), (1.0,) * len(indices))


@lru_cache(maxsize=16)
def _stop_terms(language: str) -> frozenset[str]:
    return frozenset(term for word in stop_words(language) for term in tokenize(word))
