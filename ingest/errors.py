"""Every error a user can meet while handing in a file.

StrataError                 root of all rooms: code, detail, next step
├── TransientError          worth trying again later (a server is away)
│   └── Postponed           nothing is wrong: a limit or a budget says when to go on
└── IngestError
    ├── EncryptedFile       encrypted
    ├── CorruptFile         corrupt
    ├── EmptyFile           empty
    ├── TypeMismatch        type_mismatch
    ├── FileTooLarge        too_large
    ├── MaliciousFile       malicious
    ├── UnsupportedFile     unsupported
    ├── NoTextFound         no_text
    ├── ParseTimeout        timeout
    └── ParserCrashed       parser_crashed
"""

from __future__ import annotations

from typing import ClassVar


class StrataError(Exception):
    """Something went wrong that the caller can be told about.

    The docstring of a subclass is its default message.

    Attributes:
        code: stable machine-readable name, lower snake case.
        detail: one sentence a user understands.
        next_step: what the user can do about it.
    """

    code: str = "internal"
    advice: ClassVar[str] = "Try again; if it stays, report it with the request id."

    def __init__(self, detail: str | None = None, *, next_step: str | None = None) -> None:
        first_line = (type(self).__doc__ or "").strip().splitlines()[0]
        self.detail = detail or first_line
        self.next_step = next_step or self.advice
        super().__init__(self.detail)


class TransientError(StrataError):
    """A part that is needed is away for the moment."""

    code = "unavailable"
    advice = "It is tried again by itself; nothing has to be sent again."

    def __init__(self, detail: str | None = None, *, retry_after_s: float | None = None) -> None:
        super().__init__(detail)
        self.retry_after_s = retry_after_s


class Postponed(TransientError):
    """The work waits for its turn and goes on by itself."""

    code = "postponed"
    advice = "Nothing has to be done: it goes on by itself."


class IngestError(StrataError):
    """The file could not be read."""

    code = "ingest"
    advice = "Open the file in its own program, save it again and hand in the new copy."


class EncryptedFile(IngestError):
    """The file is protected by a password."""

    code = "encrypted"
    advice = "Remove the password and hand in the unprotected copy."


class CorruptFile(IngestError):
    """The file is damaged and holds nothing that can be read."""

    code = "corrupt"


class EmptyFile(IngestError):
    """The file holds no data."""

    code = "empty"
    advice = "Check that the upload was complete and hand it in again."


class TypeMismatch(IngestError):
    """The content is not what the file name says, and reading it as such would be unsafe."""

    code = "type_mismatch"
    advice = "Give the file the extension of its real type and hand it in again."


class FileTooLarge(IngestError):
    """The file is larger than the limits allow."""

    code = "too_large"
    advice = "Split the file, or raise the limit named in the message."


class MaliciousFile(IngestError):
    """The file is built to harm the program that opens it."""

    code = "malicious"
    advice = "Do not open it elsewhere; ask its sender for a clean copy."


class UnsupportedFile(IngestError):
    """This type of file is not read."""

    code = "unsupported"
    advice = "Convert it to one of the types listed in docs/formats.md."


class NoTextFound(IngestError):
    """The file was read and holds no text."""

    code = "no_text"
    advice = "If it shows text to the eye, hand in a sharper picture or a text version."


class ParseTimeout(IngestError):
    """Reading the file took longer than the limit."""

    code = "timeout"
    advice = "Split the file, or raise PARSE_WALL_S and WORKER_SOFT_LIMIT_S."


class ParserCrashed(IngestError):
    """The program that reads this type of file died on it."""

    code = "parser_crashed"
