"""How long a document's pixels may be read."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from PIL import Image

from ingest.context import ParseContext
from ingest.ocr_picture import PictureText, read_picture


@dataclass
class OcrBudget:
    """Seconds of reading pixels that are left for a document.

    Attributes:
        seconds: for all of it.
        spent: by wall clock or processor time, whichever passed faster.
        seen: size and place of pictures read already: a logo on every page is read once.
        skipped: pages whose pixels were not read for want of time.
    """

    seconds: float
    spent: float = 0.0
    seen: set[tuple[int, int, int, int]] = field(default_factory=set)
    skipped: list[int] = field(default_factory=list)

    def left(self, share: float = 1.0) -> bool:
        """Tell whether there is time left of a share of the budget."""
        return self.spent < share * self.seconds

    def read(self, picture: Image.Image) -> PictureText:
        """Read a picture and count the time it took."""
        wall, processor = time.monotonic(), time.process_time()
        found = read_picture(picture)
        self.spent += max(time.monotonic() - wall, time.process_time() - processor)
        return found

    def report(self, context: ParseContext) -> None:
        """Warn of pages whose pixels were left unread."""
        pages = sorted(set(self.skipped))
        if pages:
            context.warn(
                "ocr_time_is_up",
                f"Pictures on {len(pages)} pages were not read, the first on page {pages[0]}:"
                f" the time for reading pixels was up (PARSE_OCR_S is {self.seconds:.0f}).",
            )
