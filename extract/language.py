"""Which language a text is written in.

The script decides where it can (kana: Japanese, hangul: Korean, Han without kana: Chinese, Greek, Hebrew,
Thai …). Where several languages share a script, py3langid chooses among the common ones of it. Its free
choice among 130 labels is not used: on short notes it answers Latin, Esperanto or Luxembourgish.
"""

from __future__ import annotations

import re
from copy import copy
from functools import lru_cache

from py3langid.langid import MODEL_FILE, LanguageIdentifier

from extract.scripts import HAN, HANGUL, KANA

UNDETERMINED = "und"

_SCRIPTS = {
    "kana": KANA,
    "han": HAN,
    "hangul": HANGUL,
    "latin": "A-Za-z\u00c0-\u024f\u1e00-\u1eff",
    "cyrillic": "\u0400-\u052f",
    "arabic": "\u0600-\u06ff\u0750-\u077f\ufb50-\ufdff\ufe70-\ufefc",
    "devanagari": "\u0900-\u097f",
    "el": "\u0370-\u03ff\u1f00-\u1fff",
    "he": "\u0590-\u05ff",
    "th": "\u0e00-\u0e7f",
    "hy": "\u0530-\u058f",
    "ka": "\u10a0-\u10ff",
    "bn": "\u0980-\u09ff",
    "ta": "\u0b80-\u0bff",
    "te": "\u0c00-\u0c7f",
}
_LETTERS = {name: re.compile(f"[{letters}]") for name, letters in _SCRIPTS.items()}
_CANDIDATES = {
    "latin": (
        "en", "de", "fr", "es", "pt", "it", "nl", "sv", "da", "no", "fi", "pl", "cs", "sk", "hu", "ro", "hr",
        "sl", "tr", "vi", "id", "ca", "et", "lv", "lt", "is", "sq", "tl", "sw",
    ),
    "cyrillic": ("ru", "uk", "bg", "sr", "mk", "be", "kk", "mn"),
    "arabic": ("ar", "fa", "ur"),
    "devanagari": ("hi", "mr", "ne"),
}  # fmt: skip
# A character of an unspaced script says as much as about two letters of an alphabet.
_WEIGHT = {"han": 2.0, "kana": 2.0, "hangul": 1.5}
# Chinese notes on technical matters hold more English letters than Han; their grammar stays Chinese.
_CHINESE_GRAMMAR = re.compile("[的了是在这我们不有就和把被]")
_GRAMMAR_BONUS = 5.0
_ENGLISH = frozenset(
    {"the", "and", "that", "with", "this", "was", "were", "are", "from", "have", "which", "you"}
)
_MIN_WORDS = 20
_SAMPLE = 800
_MIN_LETTERS = 12
_MIN_CONFIDENCE = 0.3


@lru_cache(maxsize=1)
def _model() -> LanguageIdentifier:
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


@lru_cache(maxsize=8)
def _identifier(script: str) -> LanguageIdentifier:
    # A shallow copy shares the tables, which take a second to load; the choice of labels is its own.
    identifier = copy(_model())
    identifier.set_languages(_CANDIDATES[script])
    return identifier


def share_script(one: str, other: str) -> bool:
    """Say whether two languages are told apart by their words alone, which short texts do badly."""
    return any(one in languages and other in languages for languages in _CANDIDATES.values())


def detect_language(text: str, hint: str | None = None) -> str:
    """Return the ISO 639-1 code of a text's language, or "und".

    Args:
        text: the first 800 characters are looked at.
        hint: what is known of the surrounding text; returned when this one is too short to tell and its
            script does not speak against it.
    """
    sample = text[:_SAMPLE]
    counts = _count_scripts(sample)
    if not counts:
        return hint or UNDETERMINED
    script = max(counts, key=lambda name: counts[name])
    if script in _CANDIDATES:
        return _among(script, sample, counts[script], hint)
    return {"han": "zh", "hangul": "ko"}.get(script, script)


def _count_scripts(sample: str) -> dict[str, float]:
    if sample.isascii():
        letters = len(_LETTERS["latin"].findall(sample))
        return {"latin": letters} if letters else {}
    counts = {
        name: len(letters.findall(sample)) * _WEIGHT.get(name, 1.0) for name, letters in _LETTERS.items()
    }
    if len(_CHINESE_GRAMMAR.findall(sample)) > 1:
        counts["han"] *= _GRAMMAR_BONUS
    kana = counts.pop("kana")
    # Kana beside Han means Japanese; a stray kana in a Chinese text does not.
    counts["ja"] = kana + (counts.pop("han") if kana * 8 >= counts["han"] else 0.0)
    return {name: count for name, count in counts.items() if count}


def _among(script: str, sample: str, letters: float, hint: str | None) -> str:
    known = hint if hint in _CANDIDATES[script] else None
    if letters < _MIN_LETTERS:
        return known or UNDETERMINED
    if script == "latin" and _is_plainly_english(sample):
        return "en"
    language, confidence = _identifier(script).classify(sample)
    if confidence < _MIN_CONFIDENCE:
        return known or UNDETERMINED
    return str(language)


def _is_plainly_english(sample: str) -> bool:
    """Say whether words that no neighbour of English has make up a tenth of a text."""
    words = sample.lower().split()
    return len(words) >= _MIN_WORDS and sum(word in _ENGLISH for word in words) * 10 >= len(words)
