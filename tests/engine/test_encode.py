"""Tables as JSON and CSV."""

import csv
import io
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tbprof.base.errors import Notice
from tbprof.base.values import ratio
from tbprof.engine.encode import encode_csv, encode_json
from tbprof.tools.model.datatable import PERCENT, Column, Table, boolean, number, text

TABLE = Table(
    (
        number("rank", "Rank", np.array([1, 2])),
        text("name", "Name", ['a "quoted", 日本\n', "=1+1"]),
        number("share", "Share (%)", np.array([0.125, np.nan]), PERCENT),
        boolean("flag", "Flag", np.array([True, False])),
        number("time", "Time (us)", np.array([1.5, 2.0])),
    ),
    {"device": "GPU"},
    (Notice("code", "lost", "h1", "hint"),),
)


def parsed(table: Table, layout: str = "rows", *, is_list: bool = False):
    return json.loads(encode_json([table], layout=layout, is_list=is_list))


def test_json_by_rows_is_a_data_table():
    assert parsed(TABLE) == {
        "cols": [
            {"id": "rank", "label": "Rank", "type": "number"},
            {"id": "name", "label": "Name", "type": "string"},
            {"id": "share", "label": "Share (%)", "type": "number", "pattern": "0.0%"},
            {"id": "flag", "label": "Flag", "type": "boolean"},
            {"id": "time", "label": "Time (us)", "type": "number"},
        ],
        "rows": [
            {"c": [{"v": 1}, {"v": 'a "quoted", 日本\n'}, {"v": 0.125}, {"v": True}, {"v": 1.5}]},
            {"c": [{"v": 2}, {"v": "=1+1"}, {"v": None}, {"v": False}, {"v": 2.0}]},
        ],
        "p": {"device": "GPU"},
        "warnings": [{"code": "code", "message": "lost", "host": "h1", "hint": "hint"}],
    }


def test_a_column_says_what_charts_take_it_for():
    tip = Column("tip", "Tip", "string", ["a"], role="tooltip")
    assert parsed(Table((tip,)))["cols"] == [
        {"id": "tip", "label": "Tip", "type": "string", "p": {"role": "tooltip"}}
    ]


def test_json_by_columns_is_the_same_transposed():
    assert parsed(TABLE, "columns")["columns"] == [
        [1, 2],
        ['a "quoted", 日本\n', "=1+1"],
        [0.125, None],
        [True, False],
        [1.5, 2.0],
    ]


def test_a_list_of_tables_is_a_list_even_of_one():
    assert parsed(TABLE, is_list=True) == [parsed(TABLE)]


def test_empty_properties_and_warnings_are_absent():
    assert parsed(Table((text("a", "A", []),))) == {
        "cols": [{"id": "a", "label": "A", "type": "string"}],
        "rows": [],
    }


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_null(value):
    table = Table((number("a", "A", np.array([value])),))
    assert parsed(table)["rows"] == [{"c": [{"v": None}]}]
    assert parsed(table, "columns")["columns"] == [[None]]
    assert encode_csv(table) == b"A\r\n\r\n" or encode_csv(table) == b'A\r\n""\r\n'
    assert table.columns[0].cells() == [None]


@pytest.mark.parametrize("first", [",", '",', '","', "\\", "\n", "\r", ""])
@pytest.mark.parametrize("much", [0, 1 << 20])  # equal texts are encoded once, or each
def test_what_separates_texts_can_be_in_them(first, much, monkeypatch):
    monkeypatch.setattr("tbprof.engine.encode._MUCH_TEXT", much)
    texts = [first, "a", first, "b,"]
    assert [row["c"][0]["v"] for row in parsed(Table((text("a", "A", texts),)))["rows"]] == texts


CELLS = st.lists(
    st.tuples(st.text(), st.floats(), st.integers(-(2**53), 2**53), st.booleans()), max_size=8
)


@given(CELLS)
def test_any_cells_survive_in_either_layout(rows):
    table = Table(
        (
            text("t", "T", [row[0] for row in rows]),
            number("f", "F", np.array([row[1] for row in rows], np.float64)),
            number("i", "I", np.array([row[2] for row in rows], np.int64)),
            boolean("b", "B", np.array([row[3] for row in rows], bool)),
        )
    )
    expected = [
        [cell if not isinstance(cell, float) or math.isfinite(cell) else None for cell in row]
        for row in rows
    ]
    by_rows = [[cell["v"] for cell in row["c"]] for row in parsed(table)["rows"]]
    by_columns = [list(row) for row in zip(*parsed(table, "columns")["columns"], strict=True)]
    assert by_rows == by_columns == expected


def read(table: Table) -> list[list[str]]:
    return list(csv.reader(io.StringIO(encode_csv(table).decode(), newline="")))


def test_csv_holds_labels_and_percentages_as_their_labels_say():
    assert read(TABLE) == [
        ["Rank", "Name", "Share (%)", "Flag", "Time (us)"],
        ["1", 'a "quoted", 日本\n', "12.5", "True", "1.5"],
        ["2", "'=1+1", "", "False", "2.0"],
    ]


@pytest.mark.parametrize("formula", ["=1", "+1", "-1", "@SUM(A1)", "\tx", "\rx"])
def test_texts_that_spreadsheets_run_are_quoted(formula):
    assert read(Table((text("a", "A", [formula]),)))[1] == ["'" + formula]


@pytest.mark.parametrize("plain", ["a=1", "", "'", "1"])
def test_other_texts_stay_as_they_are(plain):
    cells = read(Table((text("a", "A", [plain]), text("b", "B", ["x"]))))
    assert cells[1][0] == plain


def test_a_column_that_repeats_a_label_is_left_out_of_csv():
    table = Table((text("a", "A", ["x"]), text("b", "A", ["x"])))
    assert read(table) == [["A"], ["x"]]


def test_a_share_of_nothing_is_unknown():
    assert np.isnan(ratio(np.array([1.0, 0.0]), 0.0)).all()
    assert ratio(np.array([1.0]), np.array([4.0])).tolist() == [0.25]
