"""What the engine is doing for requests that have not been answered yet."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from tbprof.base.records import dataclass
from tbprof.engine.parts import PARTS

IDLE: Mapping[str, object] = {"state": "idle", "text": "", "done": 0, "total": 0}


@dataclass(slots=True)
class _State:
    total: int
    text: str = "opening the trace"
    done: int = 0
    requests: int = 1


class Progress:
    """The work in progress by (run, tool); `total` and `done` count hosts."""

    def __init__(self) -> None:
        self._states: dict[tuple[str, str], _State] = {}
        self._lock = threading.Lock()

    @contextmanager
    def request(self, run: str, tool: str, hosts: int) -> Iterator[None]:
        """Shows a request as work in progress while the block runs."""
        key = (run, tool)
        with self._lock:
            state = self._states.get(key)
            if state is None:
                self._states[key] = _State(hosts)
            else:  # usually the same hosts: the request that is ahead counts
                state.requests += 1
                state.total = max(state.total, hosts)
        try:
            yield
        finally:
            with self._lock:
                state = self._states[key]
                state.requests -= 1
                if not state.requests:
                    del self._states[key]

    def work(self, run: str, tool: str, host: str, part: str) -> None:
        """Notes that a part of a host is being computed."""
        self.say(run, tool, f"{PARTS[part].task} of {host}")

    def say(self, run: str, tool: str, text: str) -> None:
        """Notes what is being done now."""
        with self._lock:
            state = self._states.get((run, tool))
            if state is not None:
                state.text = text

    def host_done(self, run: str, tool: str) -> None:
        """Notes that one more host has everything that the tool needs."""
        with self._lock:
            state = self._states.get((run, tool))
            if state is not None:
                state.done = min(state.done + 1, state.total)

    def of(self, run: str, tool: str) -> dict[str, object]:
        """The state of one (run, tool) as the `progress` route returns it."""
        with self._lock:
            state = self._states.get((run, tool))
            if state is None:
                return dict(IDLE)
            return {
                "state": "working",
                "text": state.text,
                "done": state.done,
                "total": state.total,
            }
