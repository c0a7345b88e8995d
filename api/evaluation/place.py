"""Where sets are taken in and asked: this process, or a server."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from api.cli.client import Client
from api.evaluation.configurations import Configuration
from api.evaluation.crossfit import School
from api.evaluation.ground import CACHE_BYTES, Ground, ground
from api.evaluation.ingest import Coverage, Finish
from api.evaluation.search import Ask, Unseen, local_search, remote_search
from retrieval.embedders.table import make_embedder
from retrieval.embedding_cache import CachedEmbedder, VectorCache
from retrieval.evaluation.replay import ReplayEmbedder
from workers.settings import Settings

# Searches a configuration: it, what is shown by what, the number of hits wanted, and unseen weights.
Searches = Callable[[Configuration, Coverage, int, Unseen | None], Ask]
# Told how many steps have been done.
Steps = Callable[[int], None]


@dataclass(frozen=True)
class Place:
    """What a set is measured on.

    Attributes:
        name: for the report.
        prefix: put before the names of memories, where others live too.
        client: the API.
        embedder: of the baselines, and of searches in this process.
        encoder: counts the texts that had to be encoded here.
        remote: the server encodes what it remembers, and the time of a search includes its question.
        finish: sees to it that accepted work gets done; told where to report steps.
        search: how a configuration is asked.
        school: where weights are learned; None on a server.
        forget: called before each question.
    """

    name: str
    prefix: str
    client: Client
    embedder: ReplayEmbedder
    encoder: ReplayEmbedder
    remote: bool
    finish: Callable[[Steps], Finish]
    search: Searches
    school: School | None
    forget: Callable[[], None]


# Opens the place for a set of this name.
Open = Callable[[str], AbstractContextManager[Place]]


def here(settings: Settings, workdir: Path, environ: Mapping[str, str]) -> Open:
    """Return places in this process, each with a memory of its own below a folder."""

    @contextmanager
    def opened(name: str) -> Iterator[Place]:
        with ground(settings, workdir / name, workdir / "vectors.db", environ) as made:
            yield on_ground(made)

    return opened


def on_ground(made: Ground) -> Place:
    """Return the place that is a Strata in this process."""

    def finish(tell: Steps) -> Finish:
        return lambda _: made.work(tell)

    return Place(
        name="this process",
        prefix="",
        client=made.client,
        embedder=made.embedder,
        encoder=made.encoder,
        remote=False,
        finish=finish,
        search=lambda one, shown, top_k, unseen: local_search(one, made, shown, top_k, unseen),
        school=School(made.store, made.embedder, made.client, made.services.settings.mrag),
        forget=made.between,
    )


def there(client: Client, settings: Settings, workdir: Path) -> Open:
    """Return places on a server that runs; only the baselines are searched in this process."""

    @contextmanager
    def opened(name: str) -> Iterator[Place]:
        counted = ReplayEmbedder(make_embedder(settings.embedder, settings.embed))
        cache = VectorCache(workdir / "vectors.db", CACHE_BYTES)

        def finish(tell: Steps) -> Finish:
            def follow(batch_id: str | None) -> None:
                for state in client.follow(batch_id) if batch_id else ():
                    tell(sum(row["status"] == "ready" for row in state["documents"]))

            return follow

        prefix = f"eval-{name}-"
        yield Place(
            name=client.url,
            prefix=prefix,
            client=client,
            embedder=ReplayEmbedder(CachedEmbedder(counted, cache)),
            encoder=counted,
            remote=True,
            finish=finish,
            search=lambda one, shown, top_k, _: remote_search(one, client, shown, top_k, prefix),
            school=None,
            forget=lambda: None,
        )

    return opened
