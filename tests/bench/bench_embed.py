"""How many texts a second the encoders on this machine take in, by length and threads.

Run from the checkout: ``python -m tests.bench.bench_embed --encoder e5 --threads 1``. Texts are random
English words. Processor time is told beside wall-clock time, which depends on what else runs.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import time

from retrieval.embedders.table import make_embedder
from retrieval.knobs import EmbedKnobs

WORDS = [f"{part}{ending}" for part in ("meet", "report", "deliver", "train", "plan", "review")
         for ending in ("", "ing", "ed", "er", "s", "able")]  # fmt: skip
# Words per text and texts per measurement: a short fact, a fact, a summary, a long text.
SHAPES = ((12, 64), (30, 64), (80, 32), (250, 8))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--encoder", default="e5")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    embedder = make_embedder(options.encoder, EmbedKnobs(threads=options.threads))
    began = time.perf_counter()
    embedder.embed_query("warm up")
    print(json.dumps({"first_call_s": round(time.perf_counter() - began, 2)}))
    chosen = random.Random(1)
    for words, count in SHAPES:
        texts = [" ".join(chosen.choice(WORDS) for _ in range(words)) for _ in range(count)]
        wall, processor = [], []
        for _ in range(3):
            began, used = time.perf_counter(), time.process_time()
            embedder.embed_passages(texts)
            wall.append(time.perf_counter() - began)
            processor.append(time.process_time() - used)
        row = {
            "words": words,
            "texts_per_s": round(count / min(wall), 1),
            "texts_per_processor_s": round(count / min(processor), 1),
            "load_average": round(os.getloadavg()[0], 1),
        }
        print(json.dumps(row))


if __name__ == "__main__":
    main()
