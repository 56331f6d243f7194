"""Payloads to bytes: DataTable JSON by rows, the same by columns, documents, and CSV."""

import dataclasses
import io
from collections.abc import Sequence
from json.encoder import encode_basestring

import numpy as np
import orjson

from tbprof.base.errors import Notice
from tbprof.tools.datatable import PERCENT, Column, Table
from tbprof.tools.tool import Document

# A spreadsheet runs cells that begin with these as formulas.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def encode_document(document: Document, warnings: Sequence[Notice], *, layout: str) -> bytes:
    """The JSON of a document, with what was lost under `warnings`."""
    body = document.columns() if layout == "columns" else document.rows()
    if warnings:
        body = {**body, "warnings": [dataclasses.asdict(notice) for notice in warnings]}
    return orjson.dumps(body, option=orjson.OPT_SERIALIZE_NUMPY)


def encode_json(tables: Sequence[Table], *, layout: str, is_list: bool) -> bytes:
    """The JSON of a tool's tables, `rows` or `columns` as `layout` says."""
    bodies = [_table_json(table, layout) for table in tables]
    return b"[" + b",".join(bodies) + b"]" if is_list else bodies[0]


def _table_json(table: Table, layout: str) -> bytes:
    head: dict[str, object] = {"cols": [_column_head(column) for column in table.columns]}
    tail: dict[str, object] = {}
    if table.properties:
        tail["p"] = dict(table.properties)
    if table.warnings:
        tail["warnings"] = [dataclasses.asdict(notice) for notice in table.warnings]
    if layout == "columns":
        values = [_column_values(column) for column in table.columns]
        return orjson.dumps({**head, "columns": values, **tail}, option=orjson.OPT_SERIALIZE_NUMPY)
    opening = orjson.dumps(head)[:-1] + b',"rows":['
    closing = b"]" + (b"," + orjson.dumps(tail)[1:] if tail else b"}")
    return opening + _rows_json(table) + closing


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


def _rows_json(table: Table) -> bytes:
    """The rows, cells positional. Whole columns are encoded at once, then woven together."""
    tokens = [_tokens(column) for column in table.columns]
    row = b'{"c":[' + b",".join([b'{"v":%b}'] * len(tokens)) + b"]}"
    return b",".join([row % cells for cells in zip(*tokens, strict=True)])


def _tokens(column: Column) -> list[bytes]:
    if isinstance(column.values, np.ndarray):
        encoded = orjson.dumps(
            np.ascontiguousarray(column.values), option=orjson.OPT_SERIALIZE_NUMPY
        )
        return encoded[1:-1].split(b",") if column.values.size else []
    texts = list(map(str, column.cells()))
    known = list(dict.fromkeys(texts)) or [""]
    joined = "".join(known)
    # The standard library's escaping: orjson leaves a kilobyte behind for every small text.
    if len(encode_basestring(joined)) == len(joined) + len('""'):
        # Nothing is to be escaped, and no line ends in a text.
        cells = ('"' + '"\n"'.join(known) + '"').encode().split(b"\n")
    else:
        cells = [encode_basestring(text).encode() for text in known]
    tokens = dict(zip(known, cells, strict=True))
    return [tokens[text] for text in texts]


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
        column = dataclasses.replace(column, values=percent)
    cells = column.cells()
    if column.type == "string":
        texts = [str(cell).replace("\0", "\ufffd") for cell in cells]
        return [f"'{text}" if text.startswith(_FORMULA) else text for text in texts]
    return ["" if cell is None else cell for cell in cells]
