"""What the engine answers, as bytes."""

import json
import re
from collections.abc import Mapping
from typing import Any

from tbprof.engine.engine import DataRequest, Engine
from tbprof.engine.requests import Body

Row = dict[str, Any]
# A text or a number, as it is written: most are written many times.
_VALUE = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|-?[0-9][0-9.eE+-]*')


def body_of(engine: Engine, request: DataRequest) -> Body:
    """The payload of a tool that is encoded at once."""
    answer = engine.data(request)
    assert isinstance(answer, Body)
    return answer


def content_of(engine: Engine, request: DataRequest) -> bytes:
    """The payload of a tool, whether it is encoded at once or streamed."""
    answer = engine.data(request)
    return answer.content if isinstance(answer, Body) else b"".join(answer.chunks())


def document_of(engine: Engine, run: str, tool: str, **more: Any) -> Any:
    """What a tool answers in JSON; `more` are fields of the request."""
    return json.loads(content_of(engine, DataRequest(run, tool, **more)))


def values_in(content: bytes) -> list[str | float]:
    """The texts of a JSON document, those of keys too, and its numbers, each once."""
    found: list[str | float] = json.loads(b"[%b]" % b",".join({*_VALUE.findall(content)}))
    return found


def rows(table: Mapping[str, Any]) -> list[Row]:
    """The rows of a DataTable by column id."""
    ids = [column["id"] for column in table["cols"]]
    cells = [[cell and cell["v"] for cell in row["c"]] for row in table["rows"]]
    return [dict(zip(ids, row, strict=True)) for row in cells]


def pick(table: list[Row], *columns: str) -> list[tuple[Any, ...]]:
    """Columns of rows."""
    return [tuple(row[name] for name in columns) for row in table]
