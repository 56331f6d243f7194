"""The documents name what there is: files, modules, columns and properties."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.every_page import every_page, opened

from tbprof.engine.engine import DataRequest
from tbprof.tools.datatable import Table
from tbprof.tools.tool import Tool

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
API = (ROOT / "docs" / "http_api.md").read_text(encoding="utf-8")
ENDINGS = (".py", ".ts", ".tsx", ".md", ".css", ".mjs", ".proto")
PLACES = (ROOT, ROOT / "tbprof", ROOT / "tbprof" / "analysis", ROOT / "frontend" / "src")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_and_pictures_lead_somewhere(page: Path):
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target


def test_files_that_the_architecture_names_exist():
    known = {path.name for path in (ROOT / "tbprof").rglob("*.py")}
    for name in re.findall(r"`([\w./-]+)`", ARCHITECTURE):
        if name.endswith(ENDINGS) or name.endswith("/"):
            there = any((place / name).exists() for place in PLACES)
            assert there or name in known, name


def test_the_architecture_names_every_room():
    words = set(re.findall(r"\w+", ARCHITECTURE))
    assert not {path.parent.name for path in (ROOT / "tbprof").rglob("__init__.py")} - words


@every_page
def test_the_api_names_every_column_and_property(
    tool: Tool, trace: str, request: pytest.FixtureRequest
):
    engine, run = opened(trace, request)
    tables = engine.tables(DataRequest(run, tool.name))
    words = set(re.findall(r"\w+", API))
    for layout in ("rows", "columns"):
        answer = json.loads(engine.data(DataRequest(run, tool.name, layout=layout)).content)
        if not tool.is_list and "cols" not in answer:
            named = set(answer.get("memoryIds", ()))
            assert not set(keys(answer)) - named - words
    assert not {name for table in tables for name in names(table)} - words


def names(table: Table) -> Iterator[str]:
    """Ids of columns and names of properties, but for columns that are numbered through."""
    yield from (column.id for column in table.columns if not column.id.isdigit())
    yield from table.properties


def keys(document: object) -> Iterator[str]:
    """The keys of objects at any depth, but for numbers."""
    if isinstance(document, dict):
        for key, value in document.items():
            if not key.isdigit():
                yield key
            yield from keys(value)
    elif isinstance(document, list):
        for one in document:
            yield from keys(one)
