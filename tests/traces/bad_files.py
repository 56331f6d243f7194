"""Files as they ought not to be: empty, cut off, damaged, of another kind, or impossible inside."""

import random
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tbprof._pb import message
from traces.bad_pipelines import BAD_PIPELINES
from traces.drawing import draw
from traces.space_writer import SpaceWriter, listed

HOST, GPU = "/host:CPU", "/device:GPU:0"
PROFILES = Path(__file__).parents[2] / "examples" / "logdir" / "plugins" / "profile"
YEAR_NS = 365 * 86_400 * 10**9
HOSTILE = ["<script>alert(1)</script>", "a\0b", "=cmd()", "x" * 5000, "\u202eevil", "\r\n;,\"'"]


def recorded() -> bytes:
    """A trace of TensorFlow on a CPU with input pipelines."""
    return (PROFILES / "tensorflow_input_bound" / "host0.xplane.pb").read_bytes()


def cut(share: float) -> bytes:
    whole = recorded()
    return whole[: int(len(whole) * share)]


def damaged(seed: int) -> bytes:
    """Some bytes of the recorded trace are others."""
    chosen = random.Random(seed)
    whole = bytearray(recorded())
    for _ in range(chosen.choice([1, 10, 200])):
        whole[chosen.randrange(len(whole))] = chosen.randrange(256)
    return bytes(whole)


def impossible_times() -> bytes:
    events = [("early", -(2**63), 5), ("late", 2**63 - 1, 2**63 - 1), ("back", 100, -50)]
    return listed({HOST: {"main": [*events, ("fine", 10, 20)]}})


def years_between_events(gap_ps: int = 2**56) -> bytes:
    """Two hundreds of events, as far apart as the reader keeps times: 2^57 ps are 40 hours."""
    near = [(f"n{number}", number * 1000, 500) for number in range(100)]
    far = [(f"f{number}", gap_ps + number * 1000, 500) for number in range(100)]
    return listed({HOST: {"main": near + far}})


def years_between_lines() -> bytes:
    space = SpaceWriter()
    plane = space.plane(HOST)
    for year in (0, 3):
        line = plane.line(f"main {year}", year, 10**18 + year * YEAR_NS)
        plane.event(line, "work", line.timestamp_ns * 1000 + 5, 7)
    return space.bytes()


def sums_beyond_64_bits() -> bytes:
    """On each of two GPUs 40 streams, and on the host 80 threads, that work for 40 hours."""
    lines = {GPU: 40, "/device:GPU:1": 40, HOST: 80}
    return listed({
        plane: {f"Stream #{at}": [("work", at, 2**57)] for at in range(count)}
        for plane, count in lines.items()
    })  # fmt: skip


def outside_of_their_line() -> bytes:
    space = message("tensorflow.profiler.XSpace")()
    plane = space.planes.add(name=HOST)
    plane.event_metadata[1].name = "outside"
    line = plane.lines.add(id=1, name="main", timestamp_ns=5, duration_ps=10)
    line.events.add(metadata_id=1, offset_ps=10**9, duration_ps=7)
    line.events.add(metadata_id=99, offset_ps=-3, duration_ps=1)
    return bytes(space.SerializeToString())


def lost() -> bytes:
    """What recorders of GPUs dropped, and what they complained of."""
    space = message("tensorflow.profiler.XSpace")()
    stats = {plane: {"dropped_traces": 1_200_000} for plane in (GPU, "/device:GPU:1")}
    space.ParseFromString(draw(dict.fromkeys(stats, "s |k"), plane_stats=stats))
    space.errors.append("CUPTI_ERROR_INSUFFICIENT_PRIVILEGES")
    space.warnings.append("<b>buffers</b> were full")
    return bytes(space.SerializeToString())


# By name; each is made when it is asked for.
BAD_FILES: dict[str, Callable[[], bytes]] = {
    "empty": lambda: b"",
    "no trace": lambda: b"\x0a\xff\xff\xff\xff\x0fxx",
    "text": lambda: b"\xff\xff\xff\xff not a trace",
    "copied as text": lambda: recorded().replace(b"\xff", b"\xef\xbf\xbd"),
    "cut at 30 %": lambda: cut(0.3),
    "cut at 90 %": lambda: cut(0.9),
    "no threads": lambda: draw({HOST: ""}),
    "no streams": lambda: draw({GPU: ""}),
    "no events": lambda: listed({HOST: {"idle": [], "other": []}}),
    "a device alone": lambda: draw({GPU: "s |a"}),
    "lines without events": lambda: listed({HOST: {"idle": [], "main": [("a", 0, 5)], "late": []}}),
    "impossible times": impossible_times,
    "years between events": years_between_events,
    "years between lines": years_between_lines,
    "events outside of their line": outside_of_their_line,
    "sums beyond 64 bits": sums_beyond_64_bits,
    "what the recorder lost": lost,
    "names of a megabyte": lambda: listed(
        {HOST: {"n" * 10**6: [("n" * 10**6 + "1", 0, 5), ("n" * 10**6 + "2", 10, 5)]}}
    ),
    **{
        f"names such as {name[:9]!r}": partial(listed, {HOST: {name: [(name, 0, 5)]}})
        for name in [*HOSTILE, "</script><img src=x onerror=alert(1)>\u2028\x01"]
    },
    **BAD_PIPELINES,
    **{f"damaged {seed}": partial(damaged, seed) for seed in range(20)},
}
