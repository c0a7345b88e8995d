"""A document cut into stretches that belong together, in one pass and without ever cutting an element.

First structure makes sections (headings, pages, sheets, slides, quoted mail, pauses of a talk); a section
over the budget is cut in about equal parts at its best places; then tiny neighbours are merged as long as
no chapter, sheet or day is mixed with another. Only about two budgets of text stand in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from extract.boundaries import HEADINGS, Break, SectionState, break_between, cut_strength, kind_of
from extract.model import Segment, SegmentKind
from extract.scripts import estimate_tokens
from extract.titles import describe
from ingest.anchors import SectionAnchor
from ingest.model import Document, Element, ElementKind

# The default encoder reads windows of 510 tokens; an episode at this size is seen whole.
MAX_TOKENS = 420
MAX_ROWS = 50
# Below this share of the budget a section looks for a neighbour to join, and how far it may grow so.
_TINY = {SegmentKind.SLIDE: 0.12, SegmentKind.MAIL: 0.2, SegmentKind.PROSE: 0.3}
_MERGED = {SegmentKind.SLIDE: 0.5}


Path = tuple[tuple[int, str], ...]


@dataclass
class Block:
    """A run of elements on its way to becoming a segment.

    Attributes:
        path: (level, text) of the headings above the first element.
        hard: nothing before it may be merged with it.
        part: 1 for a whole section, counting on where a section was cut for size.
        tokens, rows: running totals.
    """

    kind: SegmentKind
    path: Path
    hard: bool
    part: int = 1
    elements: list[Element] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    tokens: int = 0
    rows: int = 0

    def add(self, elements: Iterable[Element], sizes: Iterable[int]) -> None:
        """Append elements with their sizes in tokens."""
        for element, size in zip(elements, sizes, strict=True):
            self.elements.append(element)
            self.sizes.append(size)
            self.tokens += size
            self.rows += element.kind is ElementKind.TABLE_ROW

    def parts(self, max_tokens: int) -> int:
        """Return into how many segments the block has to be cut."""
        return max(-(-self.tokens // max_tokens), -(-self.rows // MAX_ROWS))


def split_segments(
    document: Document, elements: Iterable[Element], max_tokens: int = MAX_TOKENS
) -> Iterator[Segment]:
    """Yield the segments of a document in order; every element is in exactly one.

    Args:
        document: whose elements these are.
        elements: in document order; read once, never held as a whole.
        max_tokens: budget of a segment in estimated tokens; only a single larger element, or headings
            with the element below them, exceed it.
    """
    blocks = _merge(_cut_sections(document, elements, max_tokens), max_tokens)
    for position, block in enumerate(blocks):
        yield describe(document, position, block.kind, _shown_path(block), tuple(block.elements), block.part)


def _shown_path(block: Block) -> tuple[str, ...]:
    first = block.elements[0]
    if isinstance(first.anchor, SectionAnchor) and first.anchor.heading_path:
        path = first.anchor.heading_path
        return path[:-1] if first.kind in HEADINGS and path[-1] == first.text else path
    return tuple(text for _, text in block.path)


def _path_above(path: Path, heading: Element) -> Path:
    level = heading.level if heading.kind is ElementKind.HEADING else 0
    return tuple(above for above in path if above[0] < level)


def _path_after(path: Path, elements: Iterable[Element]) -> Path:
    for element in elements:
        if element.kind in HEADINGS:
            level = element.level if element.kind is ElementKind.HEADING else 0
            path = (*_path_above(path, element), (level, element.text))
    return path


def _cut_sections(document: Document, elements: Iterable[Element], max_tokens: int) -> Iterator[Block]:
    path: Path = ()
    state, block, before = SectionState(), None, None
    for element in elements:
        strength = Break.HARD if before is None else break_between(document, state, before, element)
        if block is None or strength is not Break.NONE:
            if block is not None:
                yield from _balanced(block, max_tokens)
            block = _open(element, path, hard=strength is Break.HARD)
            state.begin(element)
        block.add((element,), (estimate_tokens(element.text) + 2,))
        state.add(element)
        path, before = _path_after(path, (element,)), element
        if block.parts(max_tokens) > 2:
            head, block = _split_off(block, max_tokens, int(max_tokens * 0.9))
            yield head
    if block is not None:
        yield from _balanced(block, max_tokens)


def _open(element: Element, path: Path, *, hard: bool) -> Block:
    kind = kind_of(element.anchor)
    above = _path_above(path, element) if element.kind in HEADINGS else path
    # A title reaches no further than its slide.
    return Block(kind=kind, path=() if kind is SegmentKind.SLIDE else above, hard=hard)


def _balanced(block: Block, max_tokens: int) -> Iterator[Block]:
    """Cut what is left of a section into parts of about equal size."""
    while block.elements and (parts := block.parts(max_tokens)) > 1:
        head, block = _split_off(block, max_tokens, block.tokens // parts)
        yield head
    if block.elements:
        yield block


def _split_off(block: Block, max_tokens: int, target: int) -> tuple[Block, Block]:
    """Cut a block in two at the best place near ``target`` tokens."""
    cut = _best_cut(block, max_tokens, max(1, target))
    head = Block(block.kind, block.path, block.hard, block.part)
    head.add(block.elements[:cut], block.sizes[:cut])
    tail = Block(block.kind, _path_after(block.path, head.elements), True, block.part + 1)
    tail.add(block.elements[cut:], block.sizes[cut:])
    return head, tail


def _best_cut(block: Block, max_tokens: int, target: int) -> int:
    """Return where to cut: never right behind a heading, which belongs to what follows."""
    elements = block.elements
    best, best_value, size, rows = len(elements), float("-inf"), 0, 0
    for at in range(1, len(elements)):
        size += block.sizes[at - 1]
        rows += elements[at - 1].kind is ElementKind.TABLE_ROW
        if elements[at - 1].kind in HEADINGS:
            continue
        if best < at and (size > max_tokens or rows > MAX_ROWS):
            break
        distance = abs(size - target) / target
        value = cut_strength(elements[at - 1], elements[at]) - 1.5 * distance
        if value >= best_value:
            best, best_value = at, value
    return best


def _merge(blocks: Iterable[Block], max_tokens: int) -> Iterator[Block]:
    """Join tiny neighbours that are not told apart by a hard break."""
    pending: Block | None = None
    for block in blocks:
        if pending is not None and not block.hard and _may_join(pending, block, max_tokens):
            pending.add(block.elements, block.sizes)
            continue
        if pending is not None:
            yield pending
        pending = block
    if pending is not None:
        yield pending


def _may_join(left: Block, right: Block, max_tokens: int) -> bool:
    if left.kind is not right.kind or left.rows + right.rows > MAX_ROWS:
        return False
    tiny = _TINY.get(left.kind, 0.4) * max_tokens
    room = _MERGED.get(left.kind, 1.0) * max_tokens
    return min(left.tokens, right.tokens) < tiny and left.tokens + right.tokens <= room
