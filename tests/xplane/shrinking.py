"""A trace cut off at random moments of its reading.

In `tests/`: `python -m xplane.shrinking FILE ROUNDS`.

Each round reads FILE, of which nothing is held in memory, through every part, as the tools do,
while another thread truncates it. Only BadTrace or the right result may come out; run as a
process, so that a crash is its exit status.
"""

import os
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

from helpers.drawn.computed_parts import compute_parts

from tbprof.base.errors import BadTrace
from tbprof.storage.packing import pack
from tbprof.xplane import buffer as buffer_module
from tbprof.xplane.buffer import Buffer
from tbprof.xplane.reader import space_in


def _read(buffer: Buffer) -> list[dict[str, bytes]]:
    space = space_in(buffer)
    return [_bytes(pack(part)) for part in compute_parts(space).values()]


def _bytes(arrays: dict[str, Any]) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in arrays.items()}


def main(path: Path, rounds: int, seed: int) -> None:
    buffer_module.HELD_BYTES = 0
    content = path.read_bytes()
    began = time.perf_counter()
    expected = _read(Buffer.of_file(path))
    took = time.perf_counter() - began
    random, counts = Random(seed), Counter[str]()
    for _ in range(rounds):
        path.write_bytes(content)
        size = random.choice((0, 1000, random.randrange(len(content))))
        cut = threading.Timer(random.uniform(0, 1.2 * took), os.truncate, (path, size))
        buffer = Buffer.of_file(path)
        cut.start()
        began = time.perf_counter()
        try:
            assert _read(buffer) == expected
            counts["read"] += 1
            took = time.perf_counter() - began  # the machine may be less busy by now
        except BadTrace as error:
            shrank = f"shrank from {len(content)} bytes" in str(error)
            counts["refused" if shrank else str(error)] += 1
        cut.join()
    print(dict(counts))  # noqa: T201


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), seed=7)
