"""What can be told from the characters alone: scripts, token estimates, short forms.

Everything that depends on how wide or how dense a script is stands here, so that Chinese is never
measured with an English ruler.
"""

from __future__ import annotations

import re
import unicodedata

HAN = "\u3005\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
KANA = "\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9d"
HANGUL = "\u1100-\u11ff\uac00-\ud7af"
CJK = HAN + KANA + HANGUL

_IS_CJK = re.compile(f"[{CJK}]")
_UNSPACED = re.compile(f"[{HAN}{KANA}\u3000-\u303f\uff01-\uff60]")
_WIDE_MARK = re.compile("[\u3001-\u3003\u3008-\u3011\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff60]")
_WORD_CHARACTER = re.compile(r"[^\W_]")
# Tokens a character in the encoder's vocabulary (XLM-R pieces), measured on English and Chinese prose.
_TOKENS_PER_CJK = 0.72
_TOKENS_PER_ASCII = 0.24
_TOKENS_PER_OTHER = 0.36


def count_cjk(text: str) -> int:
    """Return how many Chinese, Japanese and Korean characters a text holds."""
    return 0 if text.isascii() else len(_IS_CJK.findall(text))


def is_mostly_cjk(text: str) -> bool:
    """Say whether a third or more of the letters and digits are Chinese, Japanese or Korean.

    One such character carries about as much as half an English word, hence the third.
    """
    cjk = count_cjk(text)
    return cjk > 0 and cjk * 3 >= len(_WORD_CHARACTER.findall(text))


def estimate_tokens(text: str) -> int:
    """Return about how many tokens the encoder makes of a text; within 15 % for most prose."""
    if text.isascii():
        return round(len(text) * _TOKENS_PER_ASCII) + 1
    cjk = count_cjk(text)
    plain = len(text.encode("ascii", "ignore"))
    return (
        round(
            cjk * _TOKENS_PER_CJK + plain * _TOKENS_PER_ASCII + (len(text) - cjk - plain) * _TOKENS_PER_OTHER
        )
        + 1
    )


def has_content(text: str) -> bool:
    """Say whether a text holds a letter or a digit of any script."""
    return _WORD_CHARACTER.search(text) is not None


def one_line(text: str) -> str:
    """Return a text on one line: breaks become a space, or nothing between unspaced characters."""
    lines = text.split()
    if not lines:
        return ""
    joined = [lines[0]]
    for line in lines[1:]:
        joined += (glue(joined[-1], line), line)
    return "".join(joined)


def glue(left: str, right: str) -> str:
    """Return what joins two pieces of running text: nothing in Chinese and Japanese, else a space."""
    if not left or not right:
        return ""
    left, right = left[-1], right[0]
    if _WIDE_MARK.match(left) or _WIDE_MARK.match(right):
        return ""
    return "" if _UNSPACED.match(left) and _UNSPACED.match(right) else " "


def shorten(text: str, width: int) -> str:
    """Return a text cut at a word to at most ``width`` columns (a Chinese character takes two)."""
    text = one_line(text)
    used = 0
    for at, char in enumerate(text):
        used += 2 if unicodedata.east_asian_width(char) in "WF" else 1
        if used > width:
            return _cut(text, at)
    return text


def _cut(text: str, at: int) -> str:
    head = text[:at]
    space = head.rfind(" ")
    if space > at * 2 // 3:
        head = head[:space]
    return head.rstrip(" ,;:，；：、-–—(（[") + "…"
