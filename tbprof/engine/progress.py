"""What the engine is doing for requests that have not been answered yet."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

_WORK = {
    "outline": "reading the index",
    "devices": "reading the devices",
    "kernels": "decoding GPU kernels",
    "ops": "decoding ops",
}


@dataclass(slots=True)
class _State:
    text: str
    total: int
    done: int = 0
    preparing: bool = False
    requests: int = 1


class Progress:
    """The work in hand by (run, tool)."""

    def __init__(self) -> None:
        self._states: dict[tuple[str, str], _State] = {}
        self._lock = threading.Lock()

    @contextmanager
    def request(self, run: str, tag: str, hosts: int) -> Iterator[None]:
        """Shows a request as work in hand while the block runs."""
        key = (run, tag.rstrip("^#"))
        with self._lock:
            state = self._states.get(key)
            if state is None:
                self._states[key] = _State("opening the trace", hosts)
            else:
                state.requests += 1
        try:
            yield
        finally:
            with self._lock:
                state = self._states[key]
                state.requests -= 1
                if not state.requests:
                    del self._states[key]

    def work(self, run: str, tag: str, host: str, part: str, *, preparing: bool) -> None:
        """Notes that a part of a host is being computed."""
        with self._lock:
            state = self._states.get((run, tag))
            if state is not None:
                state.text = f"{_WORK.get(part, part)} of {host}"
                state.preparing = preparing
                state.done = min(state.done + (part == "outline"), state.total)

    def of(self, run: str, tag: str) -> dict[str, object]:
        """The state of one (run, tool) as the `progress` route gives it."""
        with self._lock:
            state = self._states.get((run, tag.rstrip("^#")))
            if state is None:
                return {"state": "idle", "text": "", "done": 0, "total": 0}
            if state.preparing:
                text = "compiling the analysis kernels, once per installation"
                return {"state": "preparing", "text": text, "done": 0, "total": 0}
            return {
                "state": "working",
                "text": state.text,
                "done": max(0, state.done - 1),
                "total": state.total,
            }
