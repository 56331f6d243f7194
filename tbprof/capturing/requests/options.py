"""What is recorded, for how long, and where it goes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime

from tbprof.base.errors import BadRequest
from tbprof.base.records import dataclass, field
from tbprof.base.texts import whole_number

MOST_S = 3600  # longer durations are mistakes: traces grow by megabytes per second
MOST_RETRIES = 20
_COLLECTING_S = 60.0  # the minimum time for collecting and sending a trace
_LEVELS = {"host_level": 3, "device_level": 1, "python_level": 1}
_RUN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,127}")
_TRUTHS = {"true": True, "false": False}


class BadOption(BadRequest):
    """An invalid option; `field` names it."""

    code = "bad_option"

    def __init__(self, field: str, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.field = field


@dataclass(frozen=True, slots=True)
class CaptureOptions:
    """What a capture records. Raises BadOption for an invalid option.

    `host_level` is 0 (nothing) to 3 (including cheap ops), `device_level` and `python_level` 0 or
    1. `delay_ms` passes before all workers begin together. `retries` are attempts after the first.
    `run` is the new run's name, by default the time. `advanced` is passed to the profilers
    unchanged.
    """

    duration_ms: int = 1000
    delay_ms: int = 0
    host_level: int = 2
    device_level: int = 1
    python_level: int = 0
    has_hlo: bool = True
    has_dataset_ops: bool = True
    retries: int = 0
    run: str = ""
    advanced: Mapping[str, str | int | bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not 0 < self.duration_ms <= MOST_S * 1000:
            raise BadOption(
                "duration_ms",
                f"a duration of {self.duration_ms:,} ms cannot be recorded",
                f"choose 1 to {MOST_S * 1000:,} ms; a few steps are enough, often 1,000 ms",
            )
        if not 0 <= self.delay_ms <= MOST_S * 1000:
            raise BadOption(
                "delay_ms",
                f"a delay of {self.delay_ms:,} ms is not possible",
                f"choose 0 to {MOST_S * 1000:,} ms",
            )
        for name, most in _LEVELS.items():
            level = getattr(self, name)
            if not 0 <= level <= most:
                raise BadOption(name, f"there is no level {level}", f"choose 0 to {most}")
        if self.host_level == self.device_level == self.python_level == 0:
            raise BadOption(
                "host_level", "nothing would be recorded", "trace the host, the devices, or both"
            )
        if not 0 <= self.retries <= MOST_RETRIES:
            raise BadOption(
                "retries", f"{self.retries:,} retries are not possible", f"at most {MOST_RETRIES}"
            )
        if self.run and (_RUN.fullmatch(self.run) is None or ".." in self.run):
            raise BadOption(
                "run",
                f"a run cannot be named {self.run[:80]!r}",
                "letters, digits, '_', '-' and '.', at most 128, not beginning with '.'",
            )
        for key in self.advanced:
            if _KEY.fullmatch(key) is None:
                raise BadOption("advanced", f"{key[:80]!r} cannot be an option's name")

    @property
    def deadline_s(self) -> float:
        """How long a profiler may take: delay, recording, and time to collect and send it."""
        recording = self.duration_ms / 1000
        return self.delay_ms / 1000 + recording + max(_COLLECTING_S, 2 * recording)

    def run_name(self, now: datetime) -> str:
        """The run's name; by default the local time, as in other profilers."""
        return self.run or now.strftime("%Y_%m_%d_%H_%M_%S")


def parse_advanced(texts: Mapping[str, str]) -> dict[str, str | int | bool]:
    """The values of options `name=value`: whole numbers, `true` and `false`, and else text."""
    return {name: _value(text) for name, text in texts.items()}


def _value(text: str) -> str | int | bool:
    if text.lower() in _TRUTHS:
        return _TRUTHS[text.lower()]
    number = whole_number(text, 18, is_signed=True)
    return text if number is None else number
