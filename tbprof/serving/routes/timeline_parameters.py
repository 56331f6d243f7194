"""Parses numbers, ranges and flags of requests for timelines. All input is untrusted."""

from __future__ import annotations

import math
from typing import Literal, TypeVar

from tbprof.base.errors import BadRequest
from tbprof.base.records import dataclass
from tbprof.base.texts import whole_number
from tbprof.serving.http_requests import Parameters

_Choice = TypeVar("_Choice", bound=str)

# Far beyond any time in a trace, and within 64 bits.
_PS_LIMIT = 1 << 62
_IDS_LIMIT = 1 << 32
_DOCUMENT = "docs/http_api.md lists the parameters"


@dataclass(frozen=True, slots=True)
class TimelineParameters:
    """The parameters of one request for a timeline. Every method raises BadRequest."""

    parameters: Parameters

    def text(self, name: str) -> str:
        """The value, "" if there is none."""
        return self.parameters.values.get(name, "")

    def part(self) -> Literal["events", "derived"]:
        """The part of the host's timeline, `events` if not given."""
        part = self.text("part") or "events"
        if part == "events":
            return "events"
        if part == "derived":
            return "derived"
        raise BadRequest(f"part={part[:80]!r} is unknown", "use part=events or part=derived")

    def integer(self, name: str, low: int, high: int, default: int | None = None) -> int:
        """A whole number from `low` to `high`, `default` if not given."""
        text = self.text(name)
        if not text:
            if default is None:
                raise BadRequest(f"parameter {name!r} is missing", _DOCUMENT)
            return default
        number = whole_number(text, 19, is_signed=True)
        if number is None:
            raise BadRequest(f"{name}={text[:80]!r} is not a whole number", _DOCUMENT)
        if not low <= number <= high:
            raise BadRequest(
                f"{name}={number} is out of range", f"{name} is from {low:,} to {high:,}"
            )
        return number

    def time_ps(self, name: str, default: int | None = None) -> int | None:
        """A time or a duration, as browsers write numbers: `1500`, `1.5e3`; rounded down."""
        text = self.text(name)
        if not text:
            return default
        try:
            number = float(text) if text.isascii() and "_" not in text else math.nan
        except ValueError:
            number = math.nan
        if not abs(number) <= _PS_LIMIT:  # NaN is not, either
            raise BadRequest(
                f"{name}={text[:80]!r} is not a time", f"{name} is a number of picoseconds"
            )
        exact = whole_number(text, 19, is_signed=True)
        return math.floor(number) if exact is None else exact

    def flag(self, name: str) -> bool:
        """Whether `name` is set: `1` or `true`."""
        text = self.text(name)
        if text in ("", "0", "false"):
            return False
        if text in ("1", "true"):
            return True
        raise BadRequest(f"{name}={text[:80]!r} is neither 0 nor 1", f"leave {name} out, or use 1")

    def choice(self, name: str, choices: tuple[_Choice, ...]) -> _Choice:
        """One of `choices`, the first if not given."""
        text = self.text(name) or choices[0]
        for choice in choices:
            if choice == text:
                return choice
        raise BadRequest(
            f"{name}={text[:80]!r} is unknown", f"{name} is one of {', '.join(choices)}"
        )

    def words(self, name: str) -> tuple[str, ...]:
        """The words of a comma-separated list, each once, in the given order."""
        return tuple(dict.fromkeys(word for word in self.text(name).split(",") if word))

    def ranges(self, name: str) -> tuple[tuple[int, int], ...]:
        """`0-45,60` as half-open ranges: (0, 46), (60, 61). Empty if not given."""
        words = self.text(name)
        if not words:
            return ()
        bounds = []
        for word in words.split(","):
            first, dash, last = word.partition("-")
            low = whole_number(first, 19, is_signed=True)
            high = whole_number(last, 19, is_signed=True) if dash else low
            if low is None or high is None or not 0 <= low <= high < _IDS_LIMIT:
                raise BadRequest(
                    f"{name} contains {word[:80]!r}, which is neither a number nor a range",
                    f"write {name}=0-45,60 for 0 to 45 and 60",
                )
            bounds.append((low, high + 1))
        return tuple(bounds)
