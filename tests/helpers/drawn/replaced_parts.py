"""Parts that a test computes in its own way."""

import dataclasses
from collections.abc import Callable
from typing import Any, cast

import pytest

from tbprof.engine.parts import PARTS, PartKind


def replace_part(monkeypatch: pytest.MonkeyPatch, name: str, **changes: Any) -> None:
    """Changes what is known of a part until the test has ended."""
    parts = cast("dict[str, PartKind]", PARTS)
    monkeypatch.setitem(parts, name, dataclasses.replace(PARTS[name], **changes))


def before_part(monkeypatch: pytest.MonkeyPatch, name: str, look: Callable[[], object]) -> None:
    """Calls `look` each time before a part is computed, until the test has ended."""
    compute = PARTS[name].compute

    def looked(*arguments: Any) -> Any:
        look()
        return compute(*arguments)

    replace_part(monkeypatch, name, compute=looked)
