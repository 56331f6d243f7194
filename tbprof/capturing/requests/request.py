"""A capture request in plain values: from the page, the shell or Python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tbprof.base.records import dataclass
from tbprof.capturing.requests.options import BadOption, CaptureOptions, parse_advanced
from tbprof.capturing.requests.targets import TPU_PORT, BadAddress, Target, parse_targets

_NUMBERS = ("duration_ms", "delay_ms", "host_level", "device_level", "python_level", "retries")
_TRUTHS = {"hlo": "has_hlo", "dataset_ops": "has_dataset_ops"}
_MOST_TEXT = 4096
_TOO_MUCH = 10**15  # far above any valid number
_KNOWN = {"addresses", "workers", "run", "advanced", *_NUMBERS, *_TRUTHS}


@dataclass(frozen=True, slots=True)
class CaptureRequest:
    """Targets and options of a capture. With `workers`, a TPU's analysis service records those."""

    targets: tuple[Target, ...]
    workers: tuple[Target, ...]
    options: CaptureOptions

    @property
    def asked(self) -> tuple[Target, ...]:
        """All recorded targets, each once."""
        return self.workers or self.targets


def parse_request(values: Mapping[str, object]) -> CaptureRequest:
    """The request from plain values, validated. Raises BadOption, which names the field.

    `addresses` and `workers` are comma-separated texts; the others are as in `CaptureOptions`, with
    `hlo` and `dataset_ops` for the contents of a trace.
    """
    for name in values:
        if name not in _KNOWN:
            raise BadOption(name[:80], f"there is no option {name[:80]!r}")
    chosen: dict[str, Any] = {}  # each is validated here
    for name in _NUMBERS:
        if name in values:
            chosen[name] = _number(name, values[name])
    for name, field in _TRUTHS.items():
        if name in values:
            chosen[field] = _truth(name, values[name])
    chosen["run"] = _text("run", values.get("run", "")).strip()
    chosen["advanced"] = _advanced(values.get("advanced", {}))
    options = CaptureOptions(**chosen)
    return CaptureRequest(*_asked(values), options)


def _asked(values: Mapping[str, object]) -> tuple[tuple[Target, ...], tuple[Target, ...]]:
    """(targets, workers): one of them is empty, unless the addresses are among the workers."""
    addresses = _text("addresses", values.get("addresses", ""))
    workers = _text("workers", values.get("workers", ""))
    if not workers.strip():
        return _targets("addresses", addresses), ()
    listed = _targets("workers", workers, TPU_PORT)
    targets = _targets("addresses", addresses) if addresses.strip() else ()
    others = [target.address for target in targets if target not in listed]
    if others:
        # The service of the list's first worker records the list, and nothing else.
        raise BadOption(
            "addresses",
            f"{others[0]} is not in the worker list, so it would not be recorded",
            "leave the addresses empty, or add them to the list",
        )
    return targets, listed


def _targets(name: str, text: str, port: int = 0) -> tuple[Target, ...]:
    try:
        return tuple(parse_targets(text, port))
    except BadAddress as error:
        raise BadOption(name, error.message, error.hint) from error


def _number(name: str, value: object) -> int:
    if isinstance(value, float) and value.is_integer():  # neither NaN nor infinite
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise BadOption(name, f"{str(value)[:40]!r} is not a whole number")
    if abs(value) >= _TOO_MUCH:
        raise BadOption(name, "the number is far too large")
    return value


def _truth(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise BadOption(name, f"{str(value)[:40]!r} is neither true nor false")
    return value


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise BadOption(name, f"{str(value)[:40]!r} is not text")
    return value


def _advanced(value: object) -> dict[str, str | int | bool]:
    if not isinstance(value, Mapping):
        raise BadOption("advanced", "advanced options are name=value")
    texts = {str(name): str(option) for name, option in value.items()}
    for text in texts.values():
        if len(text) > _MOST_TEXT or not text.isprintable():
            raise BadOption("advanced", f"{text[:40]!r} cannot be an option's value")
    return parse_advanced(texts)
