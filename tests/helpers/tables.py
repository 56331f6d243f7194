"""Cells of tables, by column and by row."""

from typing import Any

from tbprof.tools.model.datatable import Table


def columns(table: Table, *names: str) -> dict[str, list[Any]]:
    """The cells of those columns, or of all."""
    return {
        column.id: column.cells() for column in table.columns if not names or column.id in names
    }


def rows(table: Table) -> list[tuple[Any, ...]]:
    return list(zip(*(column.cells() for column in table.columns), strict=True))


def ids(table: Table) -> list[str]:
    return [column.id for column in table.columns]


def records(table: Table) -> list[dict[str, Any]]:
    """The rows by column."""
    return [dict(zip(ids(table), row, strict=True)) for row in rows(table)]


def pairs(table: Table, key: str, value: str) -> dict[Any, Any]:
    """The cells of one column by those of another."""
    return dict(zip(table.column(key).cells(), table.column(value).cells(), strict=True))
