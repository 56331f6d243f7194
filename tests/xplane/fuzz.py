"""Mutated traces through everything that reads them: `PYTHONPATH=tests python -m xplane.fuzz`.

Every `changed`-th input is a drawn trace with some fields changed, every `recorded`-th a recorded
one with some bytes changed; the others are spaces of any shape with wounded bytes. Every input is
read; of every `pages`-th and of recorded ones all parts and pages are computed, of every
`viewer`-th the trace viewer is asked everything, and every `windows`-th is read by small windows,
too. Nothing but BadTrace may come out, at the opening; an input may take a second of processor
time at most (a recorded one ten), memory may not grow. Kernels that were compiled with
`TBPROF_KERNELS=checked` check every index too, and one that is out of bounds breaks a rule; on
those with sanitizers it runs by `scripts/sanitized`. `docs/security.md` lists longer runs.
"""

import argparse
import faulthandler
import resource
import sys
import time
import warnings
from collections import Counter
from pathlib import Path
from random import Random

from tbprof.base.errors import BadTrace
from tbprof.events.space import Space
from tbprof.events.stats import BYTES, TEXT
from tbprof.xplane.buffer import Buffer
from tbprof.xplane.damage import MOST_PER_KIND
from tbprof.xplane.reader import space_in

from . import generate, mutations, questions
from .whole import whole

_MOST_SECONDS = 1.0
_MOST_SECONDS_OF_RECORDED = 10.0
# For some inputs together, as each watch is a thread of its own; a busy machine is not a reason.
_STUCK_SECONDS = 600
_WATCHED = 50
_MOST_GROWTH_BYTES = 512 * 2**20
_INTERESTING = (0, 1, 2, 4, 8, 0x0A, 0x12, 0x1A, 0x22, 0x2A, 0x7F, 0x80, 0x81, 0xEF, 0xFF)
_VARINTS = (
    generate.varint(2**63 - 1),
    generate.varint(-1),
    generate.varint(2**31),
    generate.varint(2**32 + 2),
    b"\x80" * 9 + b"\x01",
    b"\x80" * 9 + b"\x00",
    b"\x82" * 12,
    b"\xff" * 10,
    b"\x85\x80\x80\x00",
)


def mutate(random: Random, content: bytes, other: bytes) -> bytes:
    """`content` with one to four wounds; `other` gives bytes to splice in."""
    raw = bytearray(content)
    for _ in range(random.choice((1, 1, 2, 4))):
        size = len(raw)
        at = random.randrange(size + 1)
        length = min(random.choice((1, 1, 2, 3, 8, 40)), size - at)
        match random.randrange(9):
            case 0 if at < size:
                raw[at] ^= 1 << random.randrange(8)
            case 1 if at < size:
                raw[at] = random.choice(_INTERESTING)
            case 2:
                del raw[at:]
            case 3:
                del raw[at : at + length]
            case 4:
                raw[at:at] = raw[at : at + length] * random.choice((1, 2, 50))
            case 5:
                raw[at : at + length] = random.choice(_VARINTS)
            case 6:
                raw[at:at] = random.choice(_VARINTS)
            case 7 if other:
                begin = random.randrange(len(other))
                raw[at : at + length] = other[begin : begin + random.choice((4, 40, 400))]
            case _:
                raw[at : at + length] = random.randbytes(length)
    return bytes(raw)


def damage(random: Random, content: bytes) -> bytes:
    """A whole trace with up to a thousand bytes changed."""
    raw = bytearray(content)
    for _ in range(random.choice((1, 3, 20, 200, 1000))):
        raw[random.randrange(len(raw))] = random.randrange(256)
    return bytes(raw)


def read(content: bytes) -> Space | None:
    """The space in `content` with everything in it read once, None where it is refused."""
    try:
        space = space_in(Buffer(content, "fuzz"))
    except BadTrace as error:
        _require("fuzz: " in str(error) and 0 <= error.offset <= len(content), "no place")
        return None
    for plane in space.planes:
        assert plane.lines.id.size == plane.lines.name.size
        plane.strings.take(plane.types.name.tolist() + plane.types.display_name.tolist())
        dict(plane.stats)
        events = plane.events()
        assert len(events) <= len(content)
        columns = events.stats(generate.NAMES)
        plane.types.stats(generate.NAMES)
        at_once = events.stats(generate.NAMES, texts=generate.NAMES)
        for name, column in columns.items():
            texts = column.texts().tolist()
            assert at_once[name].texts().tolist() == texts
            plane.strings.take(texts)
            column.numbers()
            for row in range(min(len(events), 2)):
                assert (column.blob(row) is None) == (column.kind[row] not in (BYTES, TEXT))
        for source in events.source[:3].tolist():
            plane.details(source)
        plane.event_stats(events.aggregated.source, ["self_duration_ps"])
    notices = [*space.notices, *(notice for plane in space.planes for notice in plane.notices)]
    for times in Counter(notice.code for notice in notices).values():
        assert times <= MOST_PER_KIND + 1
    return space


def compare(content: bytes, window: int) -> None:
    """Reads the space in `content` at once and by small windows, which must say the same."""
    spaces = (space_in(Buffer(content, "fuzz", size)) for size in (len(content) + 1, window))
    at_once, by_windows = map(whole, spaces)
    _require(at_once == by_windows, f"windows of {window} bytes show something else")


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise AssertionError(what)


def ask(
    content: bytes, choices: str, window: int, *, pages: bool, viewer: bool, windows: bool
) -> Space | None:
    """The space in `content`, asked what is chosen; None where it is refused.

    What else the viewer is asked follows from `choices`.
    """
    space = read(content) if content else None
    if space is not None:
        if pages:
            questions.ask_pages(space)
        if viewer:
            questions.ask_viewer(space, Random(choices))
        if windows:
            compare(content, window)
    return space


def run(
    inputs: int,
    seed: int,
    *,
    pages: int = 1,
    viewer: int = 8,
    windows: int = 8,
    changed: int = 3,
    recorded: int = 0,
    seconds: float = float("inf"),
    failures: Path | None = None,
) -> Counter[str]:
    """How many inputs were made, read, refused and asked; raises on the first that breaks a rule.

    Input i follows from (seed, i) alone. The input that broke a rule is written to `failures`.
    """
    counts: Counter[str] = Counter()
    started = time.perf_counter()
    at_start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    pool: list[bytes] = []
    # Kernels have no way to raise: a check that fails in one is told to this hook.
    ignored: list[str] = []
    previous = sys.unraisablehook
    sys.unraisablehook = lambda told: ignored.append(f"{told.exc_value!r} in {told.object!r}")
    for index in range(inputs):
        if time.perf_counter() - started > seconds:
            break
        if index % _WATCHED == 0:
            faulthandler.dump_traceback_later(_STUCK_SECONDS, exit=True)
            pool = [generate.space(Random(f"{seed}/{index}/{at}")) for at in range(4)]
        random = Random(f"{seed}/{index}")
        is_recorded = recorded > 0 and index % recorded == recorded - 1
        if is_recorded:
            content = damage(random, random.choice(mutations.recorded()))
        elif changed and index % changed == 0:
            content = mutations.change(random, random.choice(mutations.drawn()))
        else:
            content = mutate(random, random.choice(pool), random.choice(pool))
        asks = {
            "pages": is_recorded or index % pages == 0, "viewer": index % viewer == 0,
            "windows": index % windows == 0,
        }  # fmt: skip
        window = 24 + index % 200
        begun = time.perf_counter()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                space = ask(content, f"{seed}/{index}/viewer", window, **asks)
            assert not ignored, ignored[0]
        except Exception:
            if failures is not None:
                failures.mkdir(parents=True, exist_ok=True)
                (failures / f"{seed}-{index}.pb").write_bytes(content)
            sys.stderr.write(f"input {index} of seed {seed}: {content[:4096].hex()}\n")
            raise
        # The first ones load kernels. To ask for processor time takes as long as some inputs do.
        most_s = _MOST_SECONDS_OF_RECORDED if is_recorded else _MOST_SECONDS
        if index > 500 and time.perf_counter() - begun > most_s:
            begun = time.process_time()
            ask(content, f"{seed}/{index}/viewer", window, **asks)
            counts["slow"] += time.process_time() - begun > most_s
        if space is not None:
            counts.update(what for what in ("pages", "viewer") if asks[what])
        counts["inputs"] += 1
        counts["refused" if space is None else "read"] += 1
    faulthandler.cancel_dump_traceback_later()
    sys.unraisablehook = previous
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - at_start
    assert not counts["slow"], f"{counts['slow']} inputs took too long"
    assert grown < _MOST_GROWTH_BYTES, f"memory grew by {grown} bytes"
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pages", type=int, default=1)
    parser.add_argument("--viewer", type=int, default=8)
    parser.add_argument("--windows", type=int, default=8)
    parser.add_argument("--changed", type=int, default=3)
    parser.add_argument("--recorded", type=int, default=500)
    parser.add_argument("--failures", type=Path, default=Path("fuzz-failures"))
    chosen = parser.parse_args()
    started = time.perf_counter()
    counts = run(
        chosen.inputs, chosen.seed, pages=chosen.pages, viewer=chosen.viewer,
        windows=chosen.windows, changed=chosen.changed, recorded=chosen.recorded,
        failures=chosen.failures,
    )  # fmt: skip
    took = time.perf_counter() - started
    print(f"seed {chosen.seed}: {dict(counts)}, {took:.0f} s")  # noqa: T201


if __name__ == "__main__":
    main()
