"""Parts that a test computes in its own way."""

import dataclasses
from typing import Any, cast

import pytest

from tbprof.engine.parts import PARTS, PartKind


def replace_part(monkeypatch: pytest.MonkeyPatch, name: str, **changes: Any) -> None:
    """Changes what is known of a part until the test has ended."""
    parts = cast("dict[str, PartKind]", PARTS)
    monkeypatch.setitem(parts, name, dataclasses.replace(PARTS[name], **changes))
