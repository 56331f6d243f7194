"""What the engine answers, as bytes."""

from collections.abc import Mapping
from typing import Any

from tbprof.engine.engine import DataRequest, Engine
from tbprof.engine.requests import Body


def body_of(engine: Engine, request: DataRequest) -> Body:
    """The payload of a tool that is encoded at once."""
    answer = engine.data(request)
    assert isinstance(answer, Body)
    return answer


def content_of(engine: Engine, request: DataRequest) -> bytes:
    """The payload of a tool, whether it is encoded at once or streamed."""
    answer = engine.data(request)
    return answer.content if isinstance(answer, Body) else b"".join(answer.chunks())


def values_in(document: object) -> set[object]:
    """The texts, numbers and truth values of a JSON document, those of keys too, each once."""
    found: set[object] = set()
    pending = [document]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            found.update(value)
            pending.extend(value.values())
        elif isinstance(value, list):
            pending.extend(value)
        else:
            found.add(value)
    return found


def rows(table: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of a DataTable by column id."""
    ids = [column["id"] for column in table["cols"]]
    cells = [[cell["v"] for cell in row["c"]] for row in table["rows"]]
    return [dict(zip(ids, row, strict=True)) for row in cells]
