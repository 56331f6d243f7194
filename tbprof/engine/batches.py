"""Tables in batches of rows: each is quick to send, and a page shows the first one at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import orjson

from tbprof.base.errors import BadRequest
from tbprof.base.records import replace
from tbprof.engine.encode import JSON, by_columns
from tbprof.engine.requests import Body
from tbprof.tools.model.datatable import Column, Table

# The limits of a batch; bytes are counted after compression.
MOST_ROWS, MOST_BYTES = 2_500, 290_000


def encode_batch(tables: Sequence[Table], first_row: int, *, is_list: bool) -> Body:
    """Tables by columns; of the first one the rows from `first_row` on, as many as fit.

    Raises BadRequest if the table has no such row; an empty one has an empty batch.
    """
    table, others = tables[0], [by_columns(other) for other in tables[1:]]
    rows = len(table)
    if first_row and first_row >= rows:
        raise BadRequest(f"the table has no row {first_row}", f"it has {rows} rows")
    count = min(rows - first_row, MOST_ROWS)
    while True:
        batch = _batch(table, first_row, count)
        content = orjson.dumps([batch, *others] if is_list else batch, option=_NUMPY)
        body = Body(content, JSON)
        size = len(body.gzipped)
        if size <= MOST_BYTES or count <= 1:
            return body
        # A tenth less, since fewer rows compress less well.
        count = max(1, count * MOST_BYTES * 9 // (10 * size))


_NUMPY = orjson.OPT_SERIALIZE_NUMPY


def _batch(table: Table, first_row: int, count: int) -> dict[str, object]:
    """The JSON of some rows; equal columns and repeated texts are sent once."""
    rows = slice(first_row, first_row + count)
    columns = tuple(replace(each, values=each.values[rows]) for each in table.columns)
    made = by_columns(replace(table, columns=columns))
    packed = [_packed(each) for each in columns]
    for number, column in enumerate(columns):
        same = next((other for other in columns[:number] if _are_equal(other, column)), None)
        if same is not None:
            packed[number] = {"same_as": same.id}
    return {**made, "columns": packed, "first_row": first_row, "all_rows": len(table)}


def _packed(column: Column) -> object:
    if isinstance(column.values, np.ndarray):
        return np.ascontiguousarray(column.values)
    place: dict[str, int] = {}
    codes = [place.setdefault(text, len(place)) for text in column.values]
    if not codes or 2 * len(place) > len(codes):
        return list(column.values)
    return {"texts": list(place), "codes": codes}


def _are_equal(column: Column, other: Column) -> bool:
    """Whether two columns hold the same numbers."""
    values, others = column.values, other.values
    if not (isinstance(values, np.ndarray) and isinstance(others, np.ndarray)):
        return False
    return values.dtype == others.dtype and values.tobytes() == others.tobytes()
