"""Which legacy code page some bytes are in, told by how natural the characters look that they become.

Every candidate decodes the bytes; the characters beyond ASCII are then judged in their context, in the manner
of Mozilla's chardetng: letters usual in a language count for, and signs inside words, a capital after a small
letter, mixed scripts, control codes and rare ideographs count against. The letters usual in a language are
listed in ``LATIN`` and ``SCRIPTS``, the commonest ideographs and syllables in ``EAST_ASIAN``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import NamedTuple

_RUNS_JUDGED = 4000
_RUN = re.compile(r"(?s)[^\s\x00-\x7f]?[a-zA-Z]?[^\x00-\x7f]+[a-zA-Z]?")
_RARE = frozenset(("cp437", "cp850", "cp852", "macintosh", "iso-8859-6"))
_TYPOGRAPHIC = frozenset(
    "“”„‚‘’«»‹›–—…•·€£§©®™°¿¡№×½¼¾²³±µ\xa0\xad†‡、。「」『』・ー！？（）：；，《》〈〉　～‥"
)

# Usual letters beyond ASCII, the commoner ones first, small letters only.
LATIN: dict[str, tuple[str, ...]] = {
    "windows-1252": (
        "éèàêçùîôâûëïœ", "äüößé", "óíáñéúü", "ãçáéóíêõâàúô", "àèùòìé", "åäöéø", "øåæéòóô", "áðíóéöæþúý",
        "àèéíòóúçï·", "ëéïóèü", "õäöüšž",
    ),
    "windows-1250": (
        "ąęłóśżćźń", "íáéěřčžýšůúťďňó", "áéíóöőüűú", "ăîşţâ", "čšžćđ", "áíčžéýšúľťôňäďĺŕó",
    ),
    "windows-1254": ("ıüşçöğâî",),
    "windows-1257": ("ėšžąįųūčę", "āīšēņķļžūģč", "õäöüšž"),
    "windows-1258": ("áàảãạăâđêôơưéèíìóòúùý\u0300\u0309\u0303\u0301\u0323",),
}  # fmt: skip
LATIN |= {
    "iso-8859-2": LATIN["windows-1250"],
    "iso-8859-15": LATIN["windows-1252"],
    "macintosh": LATIN["windows-1252"],
    "cp850": LATIN["windows-1252"],
    "cp437": LATIN["windows-1252"],
    "cp852": LATIN["windows-1250"],
}

_RUSSIAN = (
    "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё",
    "оаинвіетрслкдумпзяьбгйчхцїжєшюґщф",
    "аеоинтрсвлпкдзмугяъбчщжйхцшюфь",
)
_SERBIAN = ("аоиенрјсткупмвдлзгбчшцжњћхђљфџ", "оаиетнрсвдкјплмугзбчцшжњќхѓфљџѕ")
_GREEK = ("αοιετσνηυρπκμλςόάίγήδέύώωχθφβξζψϊϋ",)
_HEBREW = ("יוהלאמתרבשנםדחעכפגטקצסזךףןץ",)
_ARABIC = ("اليمنورتبةعدسفهكقحجأشصىطخإذءزضغآثئظؤ", "ایرندهومتسبشلکزفگخقحپعغجطچضصثژظذ")
_THAI = ("านรอกเงยมลวดทสตะปบคแจหพชขใไโถธณผศซภญษฐฝฟฉฎฏฆฬฮุู็่้๊๋ิีึืั์ําๆฯ",)

SCRIPTS: dict[str, tuple[str, ...]] = {
    "windows-1251": _RUSSIAN + _SERBIAN,
    "koi8-r": _RUSSIAN[:1],
    "koi8-u": _RUSSIAN[1:2],
    "iso-8859-5": _RUSSIAN + _SERBIAN,
    "cp866": _RUSSIAN,
    "mac-cyrillic": _RUSSIAN,
    "windows-1253": _GREEK,
    "iso-8859-7": _GREEK,
    "windows-1255": _HEBREW,
    "windows-1256": _ARABIC,
    "iso-8859-6": _ARABIC[:1],
    "windows-874": _THAI,
}

_HAN_SIMPLIFIED = (
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经么去"
    "法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与长把机十民第公此已工使情明性知全三又关点"
    "正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老给世位次度门任常先海通教儿"
    "原东声提立及比员解水名真论处走义各入几口认条平系气题活尔更别打女变四神总何电数安少报才结反受目太量再感建务做接必场件计管期市直德"
    "资命山金指克许统区保至队形社便空决治展马科司五基眼书非则听白却界达光放强即像难且权思王象完设式色路记南品住告类求据程北边死张该交"
)
_HAN_TRADITIONAL = (
    "的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡用道行所然家種事成方多經麼去"
    "法學如都同現當沒動面起看定天分還進好小部其些主樣理心她本前開但因只從想實日軍者意無力它與長把機十民第公此已工使情明性知全三又關點"
    "正業外將兩高間由問很最重並物手應戰向頭文體政美相見被利什二等產或新己制身果加西斯月話合回特代內信表化老給世位次度門任常先海通教兒"
    "原東聲提立及比員解水名真論處走義各入幾口認條平系氣題活爾更別打女變四神總何電數安少報才結反受目太量再感建務做接必場件計管期市直德"
    "資命山金指克許統區保至隊形社便空決治展馬科司五基眼書非則聽白卻界達光放強即像難且權思王象完設式色路記南品住告類求據程北邊死張該交"
)
_KANA = "".join(map(chr, (*range(0x3041, 0x3094), *range(0x30A1, 0x30F7))))
_KANJI = (
    "日一国会人年大十二本中長出三同時政事自行社見月分議後前民生連五発間対上部東者党地合市業内相方四定今回新場金員九入選立開手米力学問高代"
    "明実円関決子動京全目表戦経通外最言氏現理調体化田当八六約主題下首意法不来作性的要用制治度務強気小七成期公野協取都和統以機平総加山思家話"
    "世受区領多県続進正安設保改数記院女初北午指権心界支第産結百派点教報済書府活原先共得解名交資予川向際査勝面委告軍文反元重近千考判認画海参"
)
_HANGUL = (
    "이다는에의을가고하지는은로한를도기사어인자리나서해그시아대들과으라정있수보니구전일부스게주여적제장만세원와상모국조성경개소동공지여관유"
    "면것미했며비치오마생위요용연실무선안신중회물까내계방문부분방교화당학역말불체없던려명음습단때같간행않발할된각못속남반결또데저더받니된"
)

EAST_ASIAN: dict[str, str] = {
    "gb18030": _HAN_SIMPLIFIED,
    "big5": _HAN_TRADITIONAL,
    "shift_jis": _KANA + _KANJI,
    "euc-jp": _KANA + _KANJI,
    "euc-kr": _HANGUL,
}

# The codec that reads what is in the wild under a name: supersets, as in the WHATWG Encoding standard.
CODECS = {
    "shift_jis": "cp932", "euc-kr": "cp949", "big5": "big5hkscs", "windows-874": "cp874",
    "macintosh": "mac_roman", "mac-cyrillic": "mac_cyrillic",
}  # fmt: skip


class Guess(NamedTuple):
    """An encoding and how natural its text looks, from -2 (nonsense) to 1 (every sign usual)."""

    encoding: str
    score: float


def codec_of(encoding: str) -> str:
    """Return the name Python knows an encoding by."""
    return CODECS.get(encoding, encoding)


def guess_charset(data: bytes) -> Guess:
    """Return the most natural legacy encoding of some bytes; "windows-1252" when nothing tells."""
    best = Guess("windows-1252", -2.0)
    for encoding in (*LATIN, *SCRIPTS, *EAST_ASIAN):
        try:
            text = data.decode(codec_of(encoding))
        except UnicodeDecodeError as error:
            if error.start < len(data) - 3:
                continue
            text = data[: error.start].decode(codec_of(encoding))
        score = naturalness(text, encoding)
        if score > best.score + 0.02:
            best = Guess(encoding, score)
    return best


def naturalness(text: str, encoding: str) -> float:
    """Return how usual the characters beyond ASCII are in a language written in that encoding."""
    runs = list(islice((match.group() for match in _RUN.finditer(text)), _RUNS_JUDGED))
    if encoding in EAST_ASIAN:
        return _mean(_judge_ideographs(runs, _set(EAST_ASIAN[encoding])), encoding)
    if encoding in SCRIPTS:
        return max(_mean(_judge_script(runs, _weights(letters)), encoding) for letters in SCRIPTS[encoding])
    return max(_mean(_judge_latin(runs, _weights(letters)), encoding) for letters in LATIN[encoding])


def _mean(values: Iterator[float], encoding: str) -> float:
    """Average the judgements together with two more that say how common the encoding is in files."""
    prior = 0.6 if encoding == "windows-1252" else 0.2 if encoding.startswith("windows") else 0.0
    prior = -0.3 if encoding in _RARE else prior
    total, count = 2 * prior, 2
    for value in values:
        total += value
        count += 1
    return total / count


@cache
def _set(letters: str) -> frozenset[str]:
    return frozenset(letters)


@cache
def _weights(letters: str) -> dict[str, float]:
    """Weigh letters listed by frequency from 1.0 down to 0.4."""
    return {letter: 1.0 - 0.6 * place / len(letters) for place, letter in reversed([*enumerate(letters)])}


def _judge_ideographs(runs: list[str], usual: frozenset[str]) -> Iterator[float]:
    for run in runs:
        for sign in run:
            if sign in usual:
                yield 1.0
            elif sign in _TYPOGRAPHIC:
                yield 0.3
            elif sign > "\x7f":
                yield 0.1 if "\u4e00" <= sign <= "\u9fff" or "\uac00" <= sign <= "\ud7a3" else -1.0


def _judge_script(runs: list[str], weights: dict[str, float]) -> Iterator[float]:
    for run in runs:
        before = ""
        for sign in run:
            if sign > "\x7f":
                yield _script_sign(before, sign, weights)
            elif before > "\x7f" and before.isalpha():
                yield -1.0  # a Latin letter grown onto another script
            before = sign


def _script_sign(before: str, sign: str, weights: dict[str, float]) -> float:
    weight = weights.get(sign.lower())
    if weight is None:
        return _other_sign(before, sign)
    if sign.isupper():
        return -1.0 if before.islower() else weight * 0.8
    return weight


def _judge_latin(runs: list[str], weights: dict[str, float]) -> Iterator[float]:
    for run in runs:
        before = ""
        for sign in run:
            if sign > "\x7f":
                yield _latin_sign(before, sign, weights)
            before = sign


def _latin_sign(before: str, sign: str, weights: dict[str, float]) -> float:
    weight = weights.get(sign.lower())
    if weight is None:
        return _other_sign(before, sign)
    if sign.isupper() and before.islower():
        return -1.0
    if before > "\x7f" and before.isalpha():
        return weight - 0.7  # words of accented letters alone are another script in disguise
    return weight


def _other_sign(before: str, sign: str) -> float:
    if sign in _TYPOGRAPHIC:
        return -0.3 if before.isalpha() and sign not in "’”»…–—\xad\xa0" else 0.3
    if sign.isalpha():
        return -0.5
    return -2.0 if unicodedata.category(sign) in ("Cc", "Cn", "Co") else -1.0
