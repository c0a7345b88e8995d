"""The four stages. Each reads what the one before left, calls one function of a room, leaves its own.

    bytes ─parse→ document.json elements.jsonl ─extract→ extractions.jsonl ─index→ points in the store

Every stage may be run again at any time: it writes whole files, equal ids, and tells the ledger last.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterator
from pathlib import Path

from extract.chat.cache import AnswerCache
from extract.chat.errand import Errand, running
from extract.errors import ExtractError
from extract.model import Extraction
from ingest.artifacts import artifact_dir, read_json, read_jsonl, write_json
from ingest.ids import PIPELINE_VERSION
from ingest.model import Document, Element, ParseWarning
from ingest.outcome import ParseOutcome
from ingest.sources.conversation import write_conversation
from retrieval.index import index_document
from retrieval.protocols import Collection as Layer
from workers.children import accept_children
from workers.describe import describe, merge_warnings
from workers.errors import ArtifactMissing, BytesMissing, PointsRemain
from workers.extracting import extract_segments, warnings_of
from workers.forgetting import without
from workers.journal import Journal, answers_of, discard_parts
from workers.kept import KEPT, forget_unused, keeping
from workers.model import Counts, DocumentRecord, Kind, Lease, Stage
from workers.purging import purge
from workers.reflecting import reflect
from workers.row_bound import RowBound
from workers.services import Services
from workers.versions import take_place
from workers.viewing import SEEN, answers_seen, describe_views, limits_for
from workers.watch import Watch

DOCUMENT = "document.json"
ELEMENTS = "elements.jsonl"
EXTRACTIONS = "extractions.jsonl"
INDEX_REPORT = "index.json"


def parse_stage(services: Services, lease: Lease, watch: Watch) -> None:
    """Read a document into elements, and make documents of the files found inside.

    A conversation is read from the ledger, where its messages are.

    Raises:
        IngestError: the file cannot be read.
        BytesMissing: the blob store does not hold it.
        StageStopped: the stage must not go on.
        Interrupted: it should go on later.
    """
    record = lease.document
    folder = artifact_dir(services.artifacts, record.id)
    work = folder / f"parse.{lease.token}.part"
    try:
        if record.kind is Kind.CONVERSATION:
            stretch = services.ledger.conversations.snapshot(lease)
            outcome, revision = write_conversation(stretch.messages, work), stretch.revision
        else:
            errand = Errand(record.owner.tenant, record.id, Stage.PARSE.value)
            read = _read_file(services, record, work)
            at_once = services.settings.llm.concurrency
            outcome = describe_views(services.viewer, at_once, errand, read, work, watch)
            revision = None
        document = describe(record, outcome, _parent(services, record))
        watch.check()
        _clear(folder, keep=(work, folder / KEPT))
        for name in (ELEMENTS, SEEN):
            if (work / name).exists():
                (work / name).replace(folder / name)
        write_json(folder / DOCUMENT, document)
        inner = accept_children(services, record, document, work / "children")
    finally:
        shutil.rmtree(work, ignore_errors=True)
    warnings = [*document.warnings, *inner]
    if not outcome.element_count and record.kind is Kind.FILE:
        detail = "The file itself holds no text; the files inside it were read."
        warnings.append(ParseWarning(code="no_own_text", detail=detail))
    told = take_place(services, lease) if not outcome.element_count else None
    services.ledger.stages.complete(
        lease,
        counts=Counts(elements=outcome.element_count),
        warnings=warnings,
        media_type=outcome.media_type,
        last=outcome.element_count == 0,
        revision=revision,
        told=told,
    )


def extract_stage(services: Services, lease: Lease, watch: Watch) -> None:
    """Make episodes and facts of a document's elements, each segment's kept as it is made.

    A segment of which nothing can be made is left out with a warning; only when that is all of them does
    the document fail.

    Raises:
        ExtractError: nothing could be made of any segment.
        TransientError: a service is away.
        ArtifactMissing: the elements are not there.
        StageStopped: the stage must not go on.
        Interrupted: it should go on later.
    """
    folder = artifact_dir(services.artifacts, lease.document.id)
    document = _document(folder)
    fingerprint = f"{services.extractor.fingerprint}/{PIPELINE_VERSION}"
    extractor = keeping(services.extractor, fingerprint, lease.document, folder)
    with Journal(folder, fingerprint, lease.token) as journal:
        bound = RowBound(services.settings.index.rows_per_table)
        segments = bound.within(services.split(document, _elements(folder)))
        extracted = extract_segments(extractor, document, segments, journal, watch)
        if not len(journal):
            nothing = ExtractError("The document holds nothing to remember.")
            raise extracted.failures[0][1] if extracted.failures else nothing
        watch.check()
        journal.finish(folder / EXTRACTIONS, extracted.segments)
        counts = Counts(
            elements=document.element_count,
            episodes=len(journal),
            facts=journal.facts,
            ungrounded=journal.ungrounded,
        )
        new = [*warnings_of(extracted, journal), *bound.warnings()]
        warnings = merge_warnings(lease.document.warnings, new)
    services.ledger.stages.complete(lease, counts=counts, warnings=warnings)
    discard_parts(folder)
    forget_unused(extractor, AnswerCache(services.settings.answers))


def index_stage(services: Services, lease: Lease, watch: Watch) -> None:
    """Put a document's episodes and facts into the store; what an earlier run left over goes.

    Raises:
        TransientError: the store or a remote encoder is away.
        ArtifactMissing: the extractions are not there.
        StageStopped: the stage must not go on.
        Interrupted: it should start over later; the encoder remembers the vectors made so far.
    """
    folder = artifact_dir(services.artifacts, lease.document.id)
    document = _document(folder)
    known = lease.document.counts
    knobs = services.settings.index
    services.store.prepare()
    forgotten: frozenset[str] | None = None
    with running(Errand(document.owner.tenant, document.id, Stage.INDEX.value)):
        # Once more when something was forgotten while it was being written.
        while forgotten != (forgotten := services.ledger.forgotten.of(document.id)):
            report = index_document(
                services.store,
                services.embedder,
                document,
                without(_extractions(folder), forgotten),
                knobs.batch,
                # No pause: a run that is started over begins from the first item.
                lambda done: watch.tell(done, known.episodes + known.facts, may_pause=False),
                dense_rows_per_table=knobs.dense_rows_per_table,
                ungrounded=knobs.ungrounded,
            )
    write_json(folder / INDEX_REPORT, report)
    told = take_place(services, lease)
    new = [] if report.facts else [ParseWarning(code="no_facts", detail="The document gave no facts.")]
    new += reflect(services, lease, folder, _elements(folder), without(_extractions(folder), forgotten))
    services.ledger.stages.complete(
        lease,
        counts=Counts(
            elements=known.elements,
            episodes=report.episodes,
            facts=report.facts,
            ungrounded=known.ungrounded,
        ),
        warnings=merge_warnings(lease.document.warnings, new),
        told=told,
    )


def delete_stage(services: Services, lease: Lease, watch: Watch) -> None:
    """Remove all that came of a document: points, artifacts, answers, its row, and bytes no other has.

    Raises:
        TransientError: the store is away.
        PointsRemain: the store still counts points afterwards.
        StageStopped: the stage must not go on.
    """
    record = lease.document
    tenant = record.owner.tenant
    services.store.prepare()
    services.store.delete_document(tenant, record.id)
    left = sum(services.store.count(kind, tenant, record.id) for kind in Layer)
    if left:
        raise PointsRemain(f"The store still holds {left} points of the document.")
    watch.check()
    folder = artifact_dir(services.artifacts, record.id)
    if folder.exists():
        answers = AnswerCache(services.settings.answers)
        for name in (*answers_of(folder, folder / EXTRACTIONS), *answers_seen(folder)):
            answers.remove(name)
        shutil.rmtree(folder)
    removal = services.ledger.stages.remove(lease)
    if removal.purge is not None:
        purge(services.ledger, services.blobs, removal.purge)


def _read_file(services: Services, record: DocumentRecord, work: Path) -> ParseOutcome:
    try:
        with services.blobs.local(record.sha256) as path:
            return services.parse(
                path, record.name, limits_for(services.viewer, services.settings.parse), work
            )
    except FileNotFoundError as error:
        raise BytesMissing from error


def _clear(folder: Path, keep: Collection[Path]) -> None:
    """Remove what earlier runs of any stage left: it may not fit the elements to come."""
    for path in folder.iterdir():
        if path in keep:
            continue
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def _parent(services: Services, record: DocumentRecord) -> Document | None:
    if record.parent_id is None:
        return None
    path = artifact_dir(services.artifacts, record.parent_id) / DOCUMENT
    return read_json(path, Document) if path.exists() else None


def _document(folder: Path) -> Document:
    try:
        return read_json(folder / DOCUMENT, Document)
    except FileNotFoundError as error:
        raise ArtifactMissing from error


def _elements(folder: Path) -> Iterator[Element]:
    try:
        yield from read_jsonl(folder / ELEMENTS, Element)
    except FileNotFoundError as error:
        raise ArtifactMissing from error


def _extractions(folder: Path) -> Iterator[Extraction]:
    try:
        yield from read_jsonl(folder / EXTRACTIONS, Extraction)
    except FileNotFoundError as error:
        raise ArtifactMissing from error
