"""Payloads to bytes: DataTable JSON by rows, the same by columns, documents, and CSV."""

from __future__ import annotations

import io
from collections.abc import Sequence

import numpy as np
import orjson

from tbprof.base.errors import BadRequest, Notice
from tbprof.base.records import as_dict, replace
from tbprof.engine.requests import Body, DataRequest, check_table, csv_filename
from tbprof.kernels.export.table_json import weave_rows
from tbprof.storage.runs import Run
from tbprof.tools.model.datatable import PERCENT, Column, Table
from tbprof.tools.model.tool import Attachment, Document, EventStream, Payload, Tool

JSON = "application/json; charset=utf-8"
# Spreadsheets run cells that begin with these as formulas.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
# Columns of at least this many characters encode equal cells once: they repeat texts of programs.
_MUCH_TEXT = 1 << 20
# Of a DataTable by rows.
_BETWEEN_CELLS = np.frombuffer(b'},{"v":', np.uint8)
_BETWEEN_ROWS = np.frombuffer(b'}]},{"c":[{"v":', np.uint8)


def encode_payload(
    tool: Tool, run: Run, request: DataRequest, payload: Payload, warnings: tuple[Notice, ...]
) -> Body:
    """The payload in the form that a request asks for, with warnings about lost data."""
    if request.format == "csv":
        tables = tables_of(tool, payload)
        check_table(tool, request.table, len(tables))
        content = encode_csv(tables[request.table])
        name = csv_filename(tool, run, request.hosts)
        return Body(content, "text/csv; charset=utf-8", name)
    if isinstance(payload, Attachment):
        return Body(payload.content, payload.content_type, payload.filename)
    if isinstance(payload, Document) and request.first_row is None:
        content = encode_document(payload, warnings, layout=request.layout)
    else:
        tables = with_warnings(tables_of(tool, payload), warnings)
        if request.first_row is not None:
            from tbprof.engine.batches import encode_batch  # few requests need it

            return encode_batch(tables, request.first_row, is_list=tool.is_list)
        content = encode_json(tables, layout=request.layout, is_list=tool.is_list)
    return Body(content, JSON)


def tables_of(tool: Tool, payload: Payload) -> Sequence[Table]:
    """The tables of a payload. Raises BadRequest for a stream."""
    if isinstance(payload, EventStream):
        raise BadRequest(
            f"{tool.name} has no tables: it consists of every event of a trace",
            "write it to a file: run.trace().to_chrome_json(path) in Python, or tbprof export",
        )
    if isinstance(payload, Attachment):
        raise BadRequest(f"{payload.filename} has no tables", "request it without tqx=out:csv")
    return [payload.table()] if isinstance(payload, Document) else payload


def is_empty(payload: Payload) -> bool:
    """Whether there is nothing to show; streams report that themselves."""
    if isinstance(payload, Document):
        return payload.is_empty
    return isinstance(payload, Sequence) and not any(map(len, payload))


def with_warnings(tables: Sequence[Table], warnings: tuple[Notice, ...]) -> tuple[Table, ...]:
    """The tables, the first one with the warnings."""
    first = replace(tables[0], warnings=(*tables[0].warnings, *warnings))
    return (first, *tables[1:])


def encode_document(document: Document, warnings: Sequence[Notice], *, layout: str) -> bytes:
    """The JSON of a document, with its warnings under `warnings`."""
    body = document.columns() if layout == "columns" else document.rows()
    if warnings:
        body = {**body, "warnings": [as_dict(notice) for notice in warnings]}
    return orjson.dumps(body, option=orjson.OPT_SERIALIZE_NUMPY)


def encode_json(tables: Sequence[Table], *, layout: str, is_list: bool) -> bytes:
    """The JSON of a tool's tables, `rows` or `columns` as `layout` says."""
    bodies = [piece for table in tables for piece in (b",", *_table_json(table, layout))][1:]
    return b"".join([b"[", *bodies, b"]"] if is_list else bodies)


def _table_json(table: Table, layout: str) -> list[bytes | memoryview]:
    """The JSON of a table in pieces, since large ones take long to copy."""
    if layout == "columns":
        return [orjson.dumps(by_columns(table), option=orjson.OPT_SERIALIZE_NUMPY)]
    tail = _tail(table)
    opening = orjson.dumps(_head(table))[:-1] + b',"rows":['
    closing = b"]" + (b"," + orjson.dumps(tail)[1:] if tail else b"}")
    return [opening, *_rows_json(table), closing]


def by_columns(table: Table) -> dict[str, object]:
    """What is the JSON of a table by columns; NumPy arrays are among the columns."""
    values = [_column_values(column) for column in table.columns]
    return {**_head(table), "columns": values, **_tail(table)}


def _head(table: Table) -> dict[str, object]:
    return {"cols": [_column_head(column) for column in table.columns]}


def _tail(table: Table) -> dict[str, object]:
    tail: dict[str, object] = {}
    if table.properties:
        tail["p"] = dict(table.properties)
    if table.warnings:
        tail["warnings"] = [as_dict(notice) for notice in table.warnings]
    return tail


def _column_head(column: Column) -> dict[str, object]:
    head: dict[str, object] = {"id": column.id, "label": column.label, "type": column.type}
    if column.pattern:
        head["pattern"] = column.pattern
    if column.role:
        head["p"] = {"role": column.role}
    return head


def _column_values(column: Column) -> object:
    if isinstance(column.values, np.ndarray):
        return np.ascontiguousarray(column.values)
    return list(column.values)


def _rows_json(table: Table) -> list[bytes | memoryview]:
    """The rows, with positional cells. Whole columns are encoded at once, then interleaved."""
    rows = len(table)
    if not rows:
        return []
    columns = [_cells(column) for column in table.columns]
    sizes = np.array(list(map(len, columns)))
    between = _BETWEEN_CELLS.size * (len(columns) - 1) + _BETWEEN_ROWS.size
    newlines = rows * len(columns)
    size = int(sizes.sum()) - newlines + rows * between - _BETWEEN_ROWS.size
    out = np.empty(size, np.uint8)
    cells = np.frombuffer(b"".join(columns), np.uint8)
    weave_rows(cells, np.cumsum(sizes) - sizes, rows, _BETWEEN_CELLS, _BETWEEN_ROWS, out)
    return [b'{"c":[{"v":', out.data, b"}]}"]


def _cells(column: Column) -> bytes:
    """The JSON of at least one cell, each followed by a newline, which no JSON text contains."""
    if isinstance(column.values, np.ndarray):
        values = np.ascontiguousarray(column.values)
        encoded = orjson.dumps(values, option=orjson.OPT_SERIALIZE_NUMPY)
        return encoded[1:-1].replace(b",", b"\n") + b"\n"
    if sum(map(len, column.values)) < _MUCH_TEXT:
        return _lines(list(column.values))
    known = list(dict.fromkeys(column.values))
    cells = dict(zip(known, _lines(known).splitlines(keepends=True), strict=True))
    return b"".join(map(cells.__getitem__, column.values))


def _lines(texts: list[str]) -> bytes:
    """The JSON of texts, a line each (indented), since texts also contain commas and quotes."""
    return orjson.dumps(texts, option=orjson.OPT_INDENT_2).replace(b",\n  ", b"\n")[4:-1]


def encode_csv(table: Table) -> bytes:
    """The table as CSV, UTF-8: labels, then rows; percentages as the numbers that labels promise.

    Cells are empty where nothing was measured. Texts that a spreadsheet would run as formulas get
    a leading apostrophe, and U+FFFD stands for NUL, which most readers of CSV refuse (and Python
    3.10 cannot write). A column that repeats an earlier label is there for scripts that read the
    JSON by ids, and is left out.
    """
    import csv

    by_label: dict[str, Column] = {}
    for column in table.columns:
        by_label.setdefault(column.label, column)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(by_label)
    cells = [_csv_cells(column) for column in by_label.values()]
    writer.writerows(zip(*cells, strict=True))
    return out.getvalue().encode("utf-8", "replace")


def _csv_cells(column: Column) -> list[object]:
    if column.pattern == PERCENT and isinstance(column.values, np.ndarray):
        percent = np.asarray(column.values, np.float64) * 100.0
        column = replace(column, values=percent)
    cells = column.cells()
    if column.type == "string":
        texts = [str(cell).replace("\0", "\ufffd") for cell in cells]
        return [f"'{text}" if text.startswith(_FORMULA) else text for text in texts]
    return ["" if cell is None else cell for cell in cells]
