"""ZIP archives of files: each becomes a document of its own, as if it had been handed in alone."""

from __future__ import annotations

from collections.abc import Iterator

from ingest.context import ParseContext, Piece
from ingest.errors import CorruptFile, EmptyFile, FileTooLarge
from ingest.formats import by_name
from ingest.names import is_litter, safe_name
from ingest.zipguard import checked_zip, read_member


def parse(context: ParseContext) -> Iterator[Piece]:
    """Attach the files of an archive; archives among them are unpacked in their turn. Yields nothing.

    Raises:
        CorruptFile: the archive is damaged, or every file in it.
        EmptyFile: it holds no files.
        EncryptedFile: it is locked by a password.
        FileTooLarge: it holds more files than ``limits.max_attachments``, or they unpack to too much.
        MaliciousFile: its members overlap.
    """
    most = context.limits.max_attachments
    with checked_zip(context.path, context.limits) as package:
        named = [(safe_name(member.filename), member) for member in package.infolist() if not member.is_dir()]
        named = [(name, member) for name, member in named if not is_litter(name)]
        if not named:
            raise EmptyFile("The archive holds no files.")
        if len(named) > most:
            raise FileTooLarge(f"The archive holds {len(named)} files (PARSE_MAX_ATTACHMENTS is {most}).")
        for number, (name, member) in enumerate(named, start=1):
            try:
                data = read_member(package, member)
            except CorruptFile as error:
                context.warn("attachment_unreadable", f"{name}: {error.detail}")
                continue
            row = by_name(name)
            media_type = row.media_type if row else "application/octet-stream"
            context.attach(name, media_type, data, str(number))
    if not context.children:
        raise CorruptFile("The archive is damaged: none of its files can be unpacked.")
    yield from ()
