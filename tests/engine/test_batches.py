"""Tables in batches of rows."""

import json
from typing import Any

import numpy as np
import pytest

from tbprof.base.errors import BadRequest, Notice
from tbprof.engine.batches import MOST_BYTES, MOST_ROWS, encode_batch
from tbprof.tools.model.datatable import Table, boolean, number, text

TABLE = Table(
    (
        number("self", "Self", np.array([3.0, np.nan, 1.0])),
        text("kind", "Kind", ["dot", "dot", "dot"]),
        text("name", "Name", ["a", "b", "c"]),
        number("total", "Total", np.array([3.0, np.nan, 1.0])),
        boolean("flag", "Flag", np.array([True, False, True])),
    ),
    {"device": "GPU"},
    (Notice("code", "lost", "h1", "hint"),),
)
PEAKS = Table((number("peak", "Peak", np.array([2])),))


def batch(table: Table, first_row: int = 0) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(encode_batch([table], first_row, is_list=False).content)
    return made


def test_a_batch_has_columns_and_says_which_rows_they_are():
    made = batch(TABLE, 1)
    heads = made.pop("cols")
    assert [head["id"] for head in heads] == ["self", "kind", "name", "total", "flag"]
    assert made == {
        "columns": [
            [None, 1.0],
            {"texts": ["dot"], "codes": [0, 0]},
            ["b", "c"],
            {"same_as": "self"},
            [False, True],
        ],
        "first_row": 1,
        "all_rows": 3,
        "p": {"device": "GPU"},
        "warnings": [{"code": "code", "message": "lost", "host": "h1", "hint": "hint"}],
    }


def test_only_the_first_table_of_a_list_is_cut():
    made = json.loads(encode_batch([TABLE, PEAKS], 2, is_list=True).content)
    assert made[0]["columns"][2] == ["c"]
    assert made[1] == {
        "cols": [{"id": "peak", "label": "Peak", "type": "number"}],
        "columns": [[2]],
    }


def test_an_empty_table_has_an_empty_batch():
    made = batch(Table((text("name", "Name", []),)))
    assert (made["columns"], made["first_row"], made["all_rows"]) == ([[]], 0, 0)


@pytest.mark.parametrize("first_row", [3, 4])
def test_there_is_no_batch_after_the_last_row(first_row: int):
    with pytest.raises(BadRequest, match=f"no row {first_row}"):
        batch(TABLE, first_row)


def test_batches_are_small_and_together_the_whole_table():
    noise = np.random.default_rng(7).random((8, 9_000))
    names = [f"fusion.{row}" for row in range(9_000)]
    table = Table(
        (text("name", "Name", names), *(number(f"n{at}", "N", row) for at, row in enumerate(noise)))
    )
    found: list[list[Any]] = [[] for _ in table.columns]
    sizes = []
    while len(found[0]) < 9_000:
        body = encode_batch([table], len(found[0]), is_list=False)
        columns = json.loads(body.content)["columns"]
        sizes.append((len(columns[0]), len(body.gzipped)))
        for values, more in zip(found, columns, strict=True):
            values += more
    assert found == [names, *noise.tolist()]
    assert all(rows <= MOST_ROWS and size <= MOST_BYTES for rows, size in sizes)
    # No more of them than are needed.
    assert all(size > MOST_BYTES * 2 // 3 or rows == MOST_ROWS for rows, size in sizes[:-1])
