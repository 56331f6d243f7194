"""The documents name what there is: files, modules, columns and properties."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.every_page import every_page, opened

from tbprof import __version__
from tbprof.engine.engine import DataRequest
from tbprof.tools.datatable import Table
from tbprof.tools.tool import Tool

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
CONTRIBUTED = (ROOT, ROOT / "tbprof" / "advice" / "rules", ROOT / "frontend" / "src" / "tools")
GITHUB = ROOT / ".github"
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


def test_the_places_that_contributing_names_exist():
    for name in re.findall(r"`([\w./-]+)`", CONTRIBUTING):
        if name.endswith(ENDINGS) or name.endswith("/"):
            assert any((place / name).exists() for place in CONTRIBUTED), name


def test_every_issue_asks_for_what_the_doctor_says():
    forms = [path for path in GITHUB.glob("ISSUE_TEMPLATE/*.yml") if path.stem != "config"]
    assert forms
    for path in (*forms, GITHUB / "pull_request_template.md"):
        assert "tbprof doctor" in path.read_text(encoding="utf-8"), path.name


def test_what_workflows_run_is_there():
    """Scripts, targets and files; `actionlint` reads the rest."""
    steps = "".join(path.read_text(encoding="utf-8") for path in GITHUB.glob("workflows/*.yml"))
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    assert set(re.findall(r"\bmake (\w+) ", steps)) == {"test"} <= targets
    for name in ("CHANGELOG.md", "tbprof/__init__.py", "frontend/package-lock.json"):
        assert name in steps
        assert (ROOT / name).exists()
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## [{__version__}]" in changes or "## [Unreleased]" in changes


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
