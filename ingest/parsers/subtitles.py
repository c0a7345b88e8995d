"""WebVTT subtitles and meeting transcripts: one element a cue and voice, with its time and speaker.

Tolerant where recorders differ: a missing header, hours left out, SRT commas, numbers or long ids above the
timing, speakers as voice tags (Teams), as "Name: " (Zoom) or in the id (Webex), captions that roll up and
repeat each line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from ingest.anchors import CueAnchor
from ingest.context import ParseContext, Piece
from ingest.encoding import decode_text
from ingest.errors import CorruptFile, FileTooLarge
from ingest.model import ElementKind
from ingest.parsers.cue_text import Utterance, has_word_times, known_names, split_names, utterances
from ingest.parsers.recorded import find_moment

_CLOCK = r"(?:(\d{1,5}):)?(\d{1,2}):(\d{1,2})(?:[.,](\d{1,6}))?"
_TIMING = re.compile(rf"\s*{_CLOCK}\s*--?>\s*{_CLOCK}(?:\s.*)?$")
_LIKE_TIMING = re.compile(r"\s*\d\S*\s*--?>")
_ID = re.compile(r"\s*(?:\d{1,9}|[0-9a-fA-F]{8}-[0-9a-fA-F-]{20,}+\S*+)\s*+")
_NAMED_ID = re.compile(r"\s*\d+\s+\"([^\"]+)\"\s*\(\d+\)\s*")  # as Webex writes them
_ASIDE = re.compile(r"(?:NOTE|STYLE|REGION)(?:\s|$)")
_SETTING = re.compile(r"(?:NOTE\s+)?(\w+)\s*+:\s*+\"?([^\"]*+)\"?\s*+$")


class _Cue(NamedTuple):
    start_s: float
    end_s: float
    text: str
    is_timed: bool = True
    speaker: str = ""


class _Raw(NamedTuple):
    timing: str
    lines: list[str]
    speaker: str


def parse(context: ParseContext) -> Iterator[Piece]:
    """Yield the cues.

    Raises:
        CorruptFile: the file has neither a header nor a single cue.
        FileTooLarge: more cues than ``limits.max_rows``.
    """
    text, encoding = decode_text(context.path.read_bytes())
    groups = _groups(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    head = groups[0] if groups and groups[0][0].startswith("WEBVTT") else []
    asides = [group for group in groups if _ASIDE.match(group[0])]
    cues = _cues(groups[1:] if head and not any(map(_TIMING.match, head)) else groups)
    if not head and not any(cue.is_timed for cue in cues):
        raise CorruptFile("The file holds neither a WEBVTT header nor a cue with a time.")
    if len(cues) > context.limits.max_rows:
        raise FileTooLarge(f"The file has {len(cues)} cues; PARSE_MAX_ROWS allows {context.limits.max_rows}.")
    spoken = _spoken(cues)
    context.describe(encoding=encoding, title=_title(head[0]) if head else None)
    _describe(context, [*head[1:], *(line for group in asides for line in group)], spoken)
    if not all(cue.is_timed for cue in cues):
        context.warn(
            "bad_timing", "Some cues have a time that cannot be read; they stand after the cue before."
        )
    yield from _pieces(spoken)


def _title(head: str) -> str | None:
    title = head.removeprefix("WEBVTT").strip(" -–—\t")
    return title if title not in ("", "FILE") else None


def _pieces(spoken: list[tuple[_Cue, list[Utterance]]]) -> Iterator[Piece]:
    for cue, parts in spoken:
        for part in parts:
            anchor = CueAnchor(start_s=cue.start_s, end_s=cue.end_s, speaker=part.speaker)
            metadata = {"speaker": part.speaker} if part.speaker else {}
            yield Piece(ElementKind.CUE, part.text, anchor, metadata={**metadata})


def _groups(lines: Iterable[str]) -> list[list[str]]:
    """Return the runs of lines between blank ones."""
    groups: list[list[str]] = [[]]
    for line in lines:
        if line.strip():
            groups[-1].append(line)
        elif groups[-1]:
            groups.append([])
    return [group for group in groups if group]


def _cues(groups: list[list[str]]) -> list[_Cue]:
    found: list[_Raw] = []
    for group in groups:
        if _ASIDE.match(group[0]):
            continue
        starts = [index for index, line in enumerate(group) if _LIKE_TIMING.match(line)]
        if not starts and found and not (len(group) == 1 and _ID.fullmatch(group[0])):
            # A blank line inside a cue ends it by the standard; the words below it were still spoken.
            found[-1].lines.extend(group)
        named = _NAMED_ID.fullmatch(group[starts[0] - 1]) if starts and starts[0] else None
        for start, following in pairwise([*starts, len(group) + 1]):
            body = group[start + 1 : following]
            follows = _NAMED_ID.fullmatch(body[-1]) if body else None
            if following < len(group) and body and (follows or _ID.fullmatch(body[-1])):
                body.pop()
            found.append(_Raw(group[start], body, named.group(1).strip() if named else ""))
            named = follows
    cues: list[_Cue] = []
    for raw in found:
        cues.append(_timed(raw, cues[-1].end_s if cues else 0.0))
    return cues


def _timed(raw: _Raw, before_s: float) -> _Cue:
    text = "\n".join(raw.lines)
    match = _TIMING.match(raw.timing)
    if match is None:
        return _Cue(before_s, before_s, text, False, raw.speaker)
    start_s, end_s = _seconds(*match.group(1, 2, 3, 4)), _seconds(*match.group(5, 6, 7, 8))
    return _Cue(start_s, max(start_s, end_s), text, True, raw.speaker)


def _seconds(hours: str | None, minutes: str, seconds: str, fraction: str | None) -> float:
    whole = int(hours or 0) * 3600 + int(minutes) * 60 + int(seconds)
    return round(whole + float(f"0.{fraction or 0}"), 3)


def _spoken(cues: list[_Cue]) -> list[tuple[_Cue, list[Utterance]]]:
    """Return what is said in each cue and by whom."""
    if any(has_word_times(cue.text) for cue in cues):
        cues = list(_unrolled(cues))
    tagged = [(cue, [_by(cue, part) for part in utterances(cue.text)]) for cue in cues]
    names = known_names(part.text for _, parts in tagged for part in parts if part.speaker is None)
    if not names:
        return tagged
    return [
        (cue, [one for part in parts for one in ([part] if part.speaker else split_names(part.text, names))])
        for cue, parts in tagged
    ]


def _by(cue: _Cue, part: Utterance) -> Utterance:
    return part if part.speaker or not cue.speaker else part._replace(speaker=cue.speaker)


def _unrolled(cues: list[_Cue]) -> Iterator[_Cue]:
    """Drop from each cue of rolling captions the line that the cue before already showed last."""
    last = ""
    for cue in cues:
        lines = [line for line in cue.text.split("\n") if line.strip()]
        shown = ["\n".join(part.text for part in utterances(line)) for line in lines]
        first = 1 if shown and last and shown[0] == last else 0
        last = shown[-1] if shown else last
        if lines[first:]:
            yield cue._replace(text="\n".join(lines[first:]))


def _describe(context: ParseContext, lines: list[str], spoken: list[tuple[_Cue, list[Utterance]]]) -> None:
    """Report speakers, length, language and the moment the recording began."""
    known: dict[str, str] = {}
    for match in filter(None, map(_SETTING.match, lines)):
        known.setdefault(match.group(1).lower(), match.group(2).strip())
    moment = next(filter(None, map(find_moment, lines)), None) or find_moment(context.name)
    speakers = dict.fromkeys(part.speaker for _, parts in spoken for part in parts if part.speaker)
    extra: dict[str, object] = {"duration_s": max((cue.end_s for cue, _ in spoken), default=0.0)}
    if moment and not moment.has_zone:
        extra["zone_told"] = False
    if moment and not moment.has_time:
        extra["time_told"] = False
    context.describe(
        participants=tuple(speakers),
        language=known.get("language") or None,
        occurred_at=moment.at if moment else None,
        extra=extra,
    )
