"""The stages with real ledger, blobs and store: what they leave, and what a second run finds."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from extract.chat.errand import pause
from extract.errors import ExtractError
from extract.model import Extraction, Segment
from ingest.artifacts import artifact_dir, read_json, read_jsonl
from ingest.errors import CorruptFile, NoTextFound, TransientError
from ingest.limits import ParseLimits
from ingest.model import Document, Element
from ingest.outcome import ParseOutcome
from retrieval.errors import EmbedderUnavailable, StoreUnavailable
from retrieval.protocols import Collection, Vector
from tests.workers.parts import drain, hand_in
from tests.workers.stand_ins import LineExtractor, parse_lines
from workers.journal import Journal
from workers.model import Counts, DocumentRecord, Stage, State, Upload
from workers.run import run_stage
from workers.services import Services

MAIL = "Dear all\nfile note.txt: The meeting moved to Friday\nBest"


def record(services: Services, identity: str) -> DocumentRecord:
    return services.ledger.documents.get("acme", identity)


def wait_is_over(services: Services) -> None:
    with services.ledger.database.write() as session:
        session.connection().exec_driver_sql("UPDATE outbox SET available_at = '2020-01-01 00:00:00.000000'")


def points(services: Services, identity: str) -> tuple[int, int]:
    store = services.store
    return (
        store.count(Collection.EPISODES, "acme", identity),
        store.count(Collection.FACTS, "acme", identity),
    )


def test_a_file_becomes_points_in_the_store(services: Services) -> None:
    identity = hand_in(services, "One line\nAnother line").document.id
    drain(services)
    document = record(services, identity)
    assert document.state is State.READY
    assert document.counts == Counts(elements=2, episodes=2, facts=2)
    assert document.media_type == "text/plain"
    assert points(services, identity) == (2, 2)
    folder = artifact_dir(services.artifacts, identity)
    assert [one.text for one in read_jsonl(folder / "elements.jsonl", Element)] == [
        "One line",
        "Another line",
    ]
    assert len(list(read_jsonl(folder / "extractions.jsonl", Extraction))) == 2
    assert sorted(path.name for path in folder.iterdir()) == [
        "document.json", "elements.jsonl", "extractions.jsonl", "index.json",
    ]  # fmt: skip


def test_what_the_sender_says_refines_the_document(services: Services) -> None:
    told = {"title": "Minutes", "occurred_at": "2026-02-03T10:00:00", "authors": 5, "project": "x"}
    identity = hand_in(services, "One line", metadata=told).document.id
    drain(services)
    document = read_json(artifact_dir(services.artifacts, identity) / "document.json", Document)
    assert document.metadata.title == "Minutes"
    assert document.metadata.occurred_at is not None
    assert document.metadata.occurred_at.isoformat() == "2026-02-03T10:00:00+00:00"
    assert document.metadata.extra["uploader"] == told
    assert [one.code for one in record(services, identity).warnings] == ["metadata_ignored"]


def test_files_inside_become_documents_of_the_same_owner(services: Services) -> None:
    told = {"occurred_at": "2026-02-03T10:00:00+01:00"}
    batch = services.ledger.batches.create("acme")
    identity = hand_in(services, MAIL, metadata=told).document.id
    services.ledger.documents.accept(replace_upload(services, identity), batch_id=batch)
    drain(services)
    (child,) = services.ledger.documents.children("acme", identity)
    assert (child.name, child.state, child.parent_part, child.depth) == ("note.txt", State.READY, "2", 1)
    assert child.owner == record(services, identity).owner
    document = read_json(artifact_dir(services.artifacts, child.id) / "document.json", Document)
    assert document.parent_id == identity
    assert document.metadata.occurred_at is not None
    status = services.ledger.batches.status("acme", batch)
    assert status.done
    assert len(status.files) == 2


def replace_upload(services: Services, identity: str):
    known = record(services, identity)
    return Upload(
        owner=known.owner, name=known.name, sha256=known.sha256, size_bytes=known.size_bytes,
        stored_at=datetime.now(UTC),
    )  # fmt: skip


def test_depth_is_bounded(services: Services) -> None:
    shallow = replace(
        services, settings=services.settings.model_copy(update={"parse": ParseLimits(max_depth=1)})
    )
    text = "Top\nfile one.txt: First\\nfile two.txt: Second\\nEnd"
    identity = hand_in(shallow, text).document.id
    drain(shallow)
    (child,) = services.ledger.documents.children("acme", identity)
    assert child.state is State.READY
    assert [one.code for one in child.warnings] == ["too_deep"]
    assert services.ledger.documents.children("acme", child.id) == []


def test_what_one_file_may_become_is_bounded(services: Services) -> None:
    narrow = replace(
        services, settings=services.settings.model_copy(update={"parse": ParseLimits(max_family=2)})
    )
    identity = hand_in(narrow, "Top\nfile one.txt: First\nfile two.txt: Second\nEnd").document.id
    drain(narrow)
    children = services.ledger.documents.children("acme", identity)
    assert [child.name for child in children] == ["one.txt"]
    assert [one.code for one in record(services, identity).warnings] == ["too_many"]
    assert services.ledger.documents.family_size("acme", identity) == 2


def test_a_file_with_only_files_inside_is_ready(services: Services) -> None:
    identity = hand_in(services, "file note.txt: The meeting moved").document.id
    drain(services)
    document = record(services, identity)
    assert document.state is State.READY
    assert [one.code for one in document.warnings] == ["no_own_text"]
    (child,) = services.ledger.documents.children("acme", identity)
    assert child.state is State.READY


@pytest.mark.parametrize(("error", "code"), [(NoTextFound(), "no_text"), (CorruptFile(), "corrupt")])
def test_a_file_that_cannot_be_read_fails_with_its_code(
    services: Services, error: Exception, code: str
) -> None:
    def refuse(path: Path, name: str, limits: ParseLimits, out_dir: Path) -> ParseOutcome:
        out_dir.mkdir(parents=True)
        (out_dir / "half.jsonl").write_text("half")
        raise error

    broken = replace(services, parse=refuse)
    identity = hand_in(services, "x").document.id
    drain(broken)
    document = record(services, identity)
    assert document.state is State.FAILED
    assert document.error is not None
    assert document.error.code == code
    assert list(artifact_dir(services.artifacts, identity).iterdir()) == []
    services.ledger.documents.requeue("acme", identity)
    drain(services)
    assert record(services, identity).state is State.READY


def test_an_error_nobody_thought_of_is_written_down(
    services: Services, caplog: pytest.LogCaptureFixture
) -> None:
    def crash(segment: Segment) -> None:
        raise KeyError("surprise")

    identity = hand_in(services, "One line").document.id
    drain(replace(services, extractor=LineExtractor(crash)))
    document = record(services, identity)
    assert document.state is State.FAILED
    assert document.error is not None
    assert document.error.code == "internal"
    assert "surprise" in document.error.detail
    assert "a stage ended unexpectedly" in caplog.text


def test_extraction_goes_on_where_it_ended(services: Services) -> None:
    identity = hand_in(services, "\n".join(f"Line {number}" for number in range(6))).document.id

    def away_at_four(segment: Segment) -> None:
        if segment.position == 4:
            raise TransientError("The model is away.", retry_after_s=0)

    run_stage(services, Stage.PARSE, identity)
    first = LineExtractor(away_at_four)
    run_stage(replace(services, extractor=first), Stage.EXTRACT, identity)
    waiting = record(services, identity)
    assert waiting.state is State.EXTRACTING
    assert waiting.error is not None
    assert waiting.retry_at is not None
    wait_is_over(services)
    second = LineExtractor()
    drain(replace(services, extractor=second))
    assert first.seen == [0, 1, 2, 3]
    assert second.seen == [4, 5]
    assert points(services, identity) == (6, 6)
    assert record(services, identity).error is None


def test_a_torn_line_of_a_crash_is_done_again(services: Services) -> None:
    identity = hand_in(services, "Line 0\nLine 1\nLine 2").document.id
    run_stage(services, Stage.PARSE, identity)
    folder = artifact_dir(services.artifacts, identity)
    document = read_json(folder / "document.json", Document)
    segments = list(services.split(document, read_jsonl(folder / "elements.jsonl", Element)))
    with Journal(folder, "lines-1/1", "crashed") as journal:
        for segment in segments[:2]:
            journal.add(LineExtractor().extract(document, segment))
    (part,) = folder.glob("extracted.*.part")
    part.write_bytes(part.read_bytes()[:-10])
    extractor = LineExtractor()
    drain(replace(services, extractor=extractor))
    assert extractor.seen == [1, 2]
    found = list(read_jsonl(folder / "extractions.jsonl", Extraction))
    assert [one.episode.text for one in found] == ["Line 0", "Line 1", "Line 2"]


def test_the_work_of_another_extractor_is_not_taken_over(services: Services) -> None:
    identity = hand_in(services, "Line 0\nLine 1").document.id

    def away_at_one(segment: Segment) -> None:
        if segment.position == 1:
            raise TransientError("Away.", retry_after_s=0)

    run_stage(services, Stage.PARSE, identity)
    run_stage(replace(services, extractor=LineExtractor(away_at_one)), Stage.EXTRACT, identity)
    wait_is_over(services)
    other = LineExtractor()
    other.fingerprint = "lines-2"
    drain(replace(services, extractor=other))
    assert other.seen == [0, 1]


def test_a_part_that_gives_nothing_is_named_and_the_rest_is_kept(services: Services) -> None:
    def refuse_one(segment: Segment) -> None:
        if segment.position == 1:
            raise ExtractError("The model refused.")

    identity = hand_in(services, "Line 0\nLine 1\nLine 2").document.id
    drain(replace(services, extractor=LineExtractor(refuse_one)))
    document = record(services, identity)
    assert document.state is State.READY
    assert document.counts.episodes == 2
    assert [(one.code, "line 2" in one.detail) for one in document.warnings] == [("segments_left_out", True)]


def test_when_no_part_gives_anything_the_document_fails(services: Services) -> None:
    def refuse(segment: Segment) -> None:
        raise ExtractError("The model refused.")

    identity = hand_in(services, "Line 0\nLine 1").document.id
    drain(replace(services, extractor=LineExtractor(refuse)))
    document = record(services, identity)
    assert document.state is State.FAILED
    assert document.error is not None
    assert document.error.detail == "The model refused."


def test_a_stage_makes_room_after_its_slice_and_goes_on(services: Services) -> None:
    hurried = replace(services, settings=services.settings.model_copy(update={"worker_slice_s": 0.0}))
    identity = hand_in(services, "Line 0\nLine 1\nLine 2").document.id
    extractor = LineExtractor()
    drain(replace(hurried, extractor=extractor))
    assert extractor.seen == [0, 1, 2]
    document = record(services, identity)
    assert document.state is State.READY
    assert points(services, identity) == (3, 3)


def test_an_index_run_that_is_broken_off_leaves_the_same_points_in_the_end(services: Services) -> None:
    class Failing:
        """Stops after the first batch."""

        def __init__(self) -> None:
            self.batches = 0
            self.fingerprint, self.dimension = services.embedder.fingerprint, services.embedder.dimension

        def embed_passages(self, texts: Sequence[str]) -> Vector:
            self.batches += 1
            if self.batches > 1:
                raise EmbedderUnavailable("Away.", retry_after_s=0)
            return services.embedder.embed_passages(texts)

    knobs = services.settings.index.model_copy(update={"batch": 4})
    small = replace(services, settings=services.settings.model_copy(update={"index": knobs}))
    identity = hand_in(small, "\n".join(f"Line {number}" for number in range(10))).document.id
    run_stage(small, Stage.PARSE, identity)
    run_stage(small, Stage.EXTRACT, identity)
    run_stage(replace(small, embedder=Failing()), Stage.INDEX, identity)
    half = points(small, identity)
    assert 0 < sum(half) < 20
    wait_is_over(small)
    drain(small)
    assert points(small, identity) == (10, 10)
    assert record(small, identity).state is State.READY


def test_cancel_stops_extraction_between_segments(services: Services) -> None:
    identity = hand_in(services, "\n".join(f"Line {number}" for number in range(100))).document.id

    def cancel_at_three(segment: Segment) -> None:
        if segment.position == 3:
            services.ledger.documents.cancel("acme", identity)
        if segment.position > 3:
            time.sleep(0.2)

    extractor = LineExtractor(cancel_at_three)
    drain(replace(services, extractor=extractor))
    document = record(services, identity)
    assert document.state is State.CANCELLED
    assert not document.running
    assert len(extractor.seen) < 15
    services.ledger.documents.requeue("acme", identity)
    again = LineExtractor()
    drain(replace(services, extractor=again))
    assert again.seen[0] == len(extractor.seen)
    assert record(services, identity).state is State.READY


def test_delete_removes_points_artifacts_and_bytes(services: Services) -> None:
    identity = hand_in(services, MAIL).document.id
    other = hand_in(services, "Something else", name="b.txt").document.id
    drain(services)
    (child,) = services.ledger.documents.children("acme", identity)
    sha256 = record(services, identity).sha256
    going = services.ledger.documents.mark_deleting("acme", identity)
    drain(services)
    assert set(going) == {identity, child.id}
    for gone in going:
        assert points(services, gone) == (0, 0)
        assert not artifact_dir(services.artifacts, gone).exists()
    assert not services.blobs.exists(sha256)
    assert not services.blobs.exists(child.sha256)
    assert points(services, other) == (1, 1)
    assert services.blobs.exists(record(services, other).sha256)
    assert services.ledger.purges.unfinished() == []
    assert not hand_in(services, MAIL).requeued
    drain(services)
    assert record(services, identity).state is State.READY


def test_delete_while_the_store_is_away_is_tried_again(services: Services) -> None:
    class Away:
        def prepare(self) -> None:
            raise StoreUnavailable

    identity = hand_in(services, "One line").document.id
    drain(services)
    services.ledger.documents.mark_deleting("acme", identity)
    run_stage(replace(services, store=Away()), Stage.DELETE, identity)
    waiting = record(services, identity)
    assert waiting.state is State.DELETING
    assert waiting.error is not None
    assert waiting.error.code == "store_unavailable"
    assert waiting.retry_at is not None


def test_handed_in_again_during_removal_it_is_read_anew(services: Services) -> None:
    identity = hand_in(services, "One line").document.id
    drain(services)
    services.ledger.documents.mark_deleting("acme", identity)
    assert hand_in(services, "One line").requeued
    drain(services)
    assert record(services, identity).state is State.READY
    assert points(services, identity) == (1, 1)


def test_lost_artifacts_and_bytes_are_told_apart(services: Services) -> None:
    identity = hand_in(services, "One line").document.id
    run_stage(services, Stage.PARSE, identity)
    shutil.rmtree(services.artifacts)
    run_stage(services, Stage.EXTRACT, identity)
    document = record(services, identity)
    assert document.error is not None
    assert document.error.code == "artifact_missing"
    assert services.ledger.documents.requeue("acme", identity).state is State.QUEUED
    services.blobs.delete(document.sha256)
    run_stage(services, Stage.PARSE, identity)
    document = record(services, identity)
    assert document.error is not None
    assert document.error.code == "bytes_missing"


def test_a_run_after_the_lease_was_lost_writes_nothing(services: Services) -> None:
    identity = hand_in(services, "One line").document.id

    def slow_parse(path: Path, name: str, limits: ParseLimits, out_dir: Path) -> ParseOutcome:
        outcome = parse_lines(path, name, limits, out_dir)
        with services.ledger.database.write() as session:  # somebody else takes over meanwhile
            session.connection().exec_driver_sql("UPDATE documents SET lease_token = 'another'")
        return outcome

    run_stage(replace(services, parse=slow_parse), Stage.PARSE, identity)
    document = record(services, identity)
    assert document.state is State.PARSING
    assert document.counts == Counts()


def test_several_segments_at_once_come_out_in_order(services: Services) -> None:
    def early_ones_take_longer(segment: Segment) -> None:
        time.sleep(0.05 if segment.position % 4 == 0 else 0.0)

    identity = hand_in(services, "\n".join(f"Line {number}" for number in range(12))).document.id
    extractor = LineExtractor(early_ones_take_longer, at_once=4)
    drain(replace(services, extractor=extractor))
    assert extractor.seen != sorted(extractor.seen)
    folder = artifact_dir(services.artifacts, identity)
    found = list(read_jsonl(folder / "extractions.jsonl", Extraction))
    assert [one.episode.position for one in found] == list(range(12))
    assert points(services, identity) == (12, 12)


def test_what_runs_beside_a_failure_is_kept(services: Services) -> None:
    def away_at_two(segment: Segment) -> None:
        if segment.position == 2:
            raise TransientError("Away.", retry_after_s=0)
        time.sleep(0.1)

    identity = hand_in(services, "\n".join(f"Line {number}" for number in range(12))).document.id
    run_stage(services, Stage.PARSE, identity)
    first = LineExtractor(away_at_two, at_once=4)
    run_stage(replace(services, extractor=first), Stage.EXTRACT, identity)
    assert record(services, identity).error is not None
    wait_is_over(services)
    second = LineExtractor(at_once=4)
    drain(replace(services, extractor=second))
    assert 2 in second.seen
    assert sorted(first.seen + second.seen) == list(range(12))


def test_cancel_does_not_wait_for_what_runs(services: Services) -> None:
    begun, freed = threading.Event(), threading.Event()

    def hang(segment: Segment) -> None:
        begun.set()
        freed.wait(30)

    identity = hand_in(services, "\n".join(f"Line {number}" for number in range(9))).document.id
    run_stage(services, Stage.PARSE, identity)
    hanging = replace(services, extractor=LineExtractor(hang, at_once=3))
    stage = threading.Thread(target=run_stage, args=(hanging, Stage.EXTRACT, identity))
    stage.start()
    assert begun.wait(10)
    services.ledger.documents.cancel("acme", identity)
    stage.join(10)
    assert not stage.is_alive()
    freed.set()
    assert record(services, identity).state is State.CANCELLED
    assert not record(services, identity).running


def test_cancel_ends_a_wait_for_a_turn_in_a_single_lane(services: Services) -> None:
    begun = threading.Event()

    def wait_long(segment: Segment) -> None:
        begun.set()
        pause(60)

    identity = hand_in(services, "Line").document.id
    run_stage(services, Stage.PARSE, identity)
    waiting = replace(services, extractor=LineExtractor(wait_long))
    stage = threading.Thread(target=run_stage, args=(waiting, Stage.EXTRACT, identity))
    stage.start()
    assert begun.wait(10)
    services.ledger.documents.cancel("acme", identity)
    stage.join(20)
    assert not stage.is_alive()
    assert record(services, identity).state is State.CANCELLED


def test_a_stage_that_makes_room_takes_what_is_on_its_way(services: Services) -> None:
    hurried = replace(services, settings=services.settings.model_copy(update={"worker_slice_s": 0.0}))
    identity = hand_in(services, "\n".join(f"Line {number}" for number in range(9))).document.id
    extractor = LineExtractor(lambda _: time.sleep(0.02), at_once=3)
    drain(replace(hurried, extractor=extractor))
    assert sorted(extractor.seen) == list(range(9))
    assert points(services, identity) == (9, 9)
