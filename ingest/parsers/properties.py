"""What an Office file says of itself: title, authors, dates, custom properties."""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime

from pydantic import JsonValue

from ingest.context import ParseContext
from ingest.parsers.ooxml import Node, attribute, local
from ingest.parsers.opc import Package

_EXTRA = ("subject", "keywords", "description", "category", "contentStatus", "lastModifiedBy")


def describe_package(context: ParseContext, package: Package) -> None:
    """Report the core, application and custom properties of a package."""
    core = _values(_root(package, "core-properties", "docProps/core.xml"))
    authors = tuple(name.strip() for name in core.get("creator", "").split(";") if name.strip())
    created = read_date(core.get("created"))
    extra: dict[str, JsonValue] = {key: core[key] for key in _EXTRA if core.get(key)}
    application = _values(_root(package, "extended-properties", "docProps/app.xml"))
    extra |= {key.lower(): application[key] for key in ("Company", "Manager") if application.get(key)}
    pages = application.get("Pages", "")
    custom = _root(package, "custom-properties", "docProps/custom.xml")
    for node in () if custom is None else custom:
        value = " ".join(text.strip() for text in node.itertext() if text.strip())
        if value:
            extra[attribute(node, "name")] = value
    context.describe(
        title=core.get("title") or None,
        authors=authors or None,
        created_at=created,
        modified_at=read_date(core.get("modified")),
        occurred_at=created,
        language=core.get("language") or None,
        page_count=int(pages) if pages.isdecimal() and int(pages) else None,
        extra=extra,
    )


def _root(package: Package, kind: str, fallback: str) -> Node | None:
    return package.optional(next(iter(package.related("", kind)), fallback))


def _values(root: Node | None) -> dict[str, str]:
    return {} if root is None else {local(node): (node.text or "").strip() for node in root}


def read_date(text: str | None) -> datetime | None:
    """Return an ISO 8601 instant, as UTC where no zone is given, or None where it is none."""
    with contextlib.suppress(ValueError):
        if text:
            moment = datetime.fromisoformat(text.strip())
            return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return None
