"""What the engine is doing for requests that have not been answered yet."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from tbprof.base.records import dataclass
from tbprof.engine.parts import PARTS
from tbprof.storage.runs import TraceFile

IDLE: Mapping[str, object] = {"state": "idle", "text": "", "done": 0, "total": 0, "share": 0.0}
# Stands for a tool: the hosts of a run are looked at before any page.
LISTING = ""

_MIB = 1 << 20
# The first hosts say little about the others.
_LEAST_S = 5.0


def time_left(done: int, total: int, seconds: float) -> str:
    """An estimate of the remaining time, if `done` of `total` took `seconds`; "" if unknown."""
    if not 0 < done < total or seconds < _LEAST_S:
        return ""
    left_s = seconds / done * (total - done)
    if left_s < 100:
        return f"about {left_s:.0f} s left"
    return (
        f"about {left_s / 60:.0f} min left"
        if left_s < 6000
        else f"about {left_s / 3600:.0f} h left"
    )


@dataclass(slots=True)
class _State:
    total: int
    parts: int
    text: str = "opening the trace"
    file: TraceFile | None = None
    done: int = 0
    begun: int = 0
    requests: int = 1
    # When the first part was begun, and how many hosts were done by then, from the cache.
    since_s: float | None = None
    kept: int = 0


class Progress:
    """The work in progress by (run, tool); `total` and `done` count hosts.

    `decoded_ratio` is how much of a file's events has been decoded, 0 to 1; `clock` counts seconds.
    """

    def __init__(
        self,
        decoded_ratio: Callable[[TraceFile], float] = lambda _file: 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._decoded_ratio = decoded_ratio
        self._clock = clock
        self._states: dict[tuple[str, str], _State] = {}
        self._lock = threading.Lock()
        self._is_idle = threading.Condition(self._lock)

    @contextmanager
    def request(
        self, run: str, tool: str, files: Sequence[TraceFile], parts: int = 1
    ) -> Iterator[None]:
        """Shows a request for some parts of each file as work in progress while the block runs."""
        key = (run, tool)
        hosts = len(files)
        with self._lock:
            state = self._states.get(key)
            if state is None:
                self._states[key] = _State(hosts, hosts * parts)
            else:  # usually the same hosts: the request that is further ahead counts
                state.requests += 1
                state.total = max(state.total, hosts)
                state.parts = max(state.parts, hosts * parts)
        try:
            yield
        finally:
            with self._lock:
                state = self._states[key]
                state.requests -= 1
                if not state.requests:
                    del self._states[key]
                if not self._states:
                    self._is_idle.notify_all()

    def wait(self) -> None:
        """Returns when there is no request."""
        with self._is_idle:
            self._is_idle.wait_for(lambda: not self._states)

    def work(self, run: str, tool: str, file: TraceFile, part: str) -> None:
        """Records that a part of a host is being computed."""
        self.say(run, tool, file, PARTS[part].task)

    def say(self, run: str, tool: str, file: TraceFile, task: str) -> None:
        """Records the current task on the file of a host."""
        with self._lock:
            state = self._states.get((run, tool))
            if state is not None:
                state.text = f"{task} of {file.host}"
                state.file = file
                state.begun += 1
                if state.since_s is None:
                    state.since_s, state.kept = self._clock(), state.done

    def host_done(self, run: str, tool: str) -> None:
        """Records that one more host has everything that the tool needs."""
        with self._lock:
            state = self._states.get((run, tool))
            if state is not None:
                state.done = min(state.done + 1, state.total)

    def of(self, run: str, tool: str) -> dict[str, object]:
        """The state of one (run, tool), else of the listing, as the `progress` route returns it."""
        with self._lock:
            state = self._states.get((run, tool)) or self._states.get((run, LISTING))
            if state is None:
                return dict(IDLE)
            file = state.file
            text, done, total = state.text, state.done, state.total
            begun, parts = min(state.begun, state.parts), state.parts
            seconds = 0.0 if state.since_s is None else self._clock() - state.since_s
            left = time_left(done - state.kept, total - state.kept, seconds)
        ratio = self._decoded_ratio(file) if file is not None else 0.0
        # The latest part is not done yet. Decoding a host takes about as long as all parts.
        share = max(begun - 1, 0) / max(parts, 1)
        if total == 1:
            share = (share + ratio) / 2
        far = _how_far(file, ratio, done, total, begun, parts)
        far = f"{far}, {left}" if left else far
        return {
            "state": "working",
            "text": f"{text}: {far}" if far else text,
            "done": done,
            "total": total,
            "share": max(share, done / max(total, 1)),
        }


def _how_far(
    file: TraceFile | None, ratio: float, done: int, total: int, begun: int, parts: int
) -> str:
    """How much of the work is done, "" if unknown."""
    if file is None:
        return ""
    if total > 1:
        return f"{done} of {total} hosts done"
    facts = [f"part {begun} of {parts}"] if parts > 1 else []
    if 0 < ratio < 1 and file.bytes >= _MIB:
        facts.append(f"{ratio * 100:.0f} % of {file.bytes / _MIB:,.0f} MiB decoded")
    return ", ".join(facts)
