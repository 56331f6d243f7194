"""The documents name what there is: files, modules, columns and properties."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.payloads import document_of
from helpers.promises.every_page import every_page
from test_layers import LAYERS
from traces.every_trace import opened

from tbprof import __version__
from tbprof.engine.engine import DataRequest
from tbprof.tools import TOOLS
from tbprof.tools.model.datatable import Table
from tbprof.tools.model.tool import Tool

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
SECURITY = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
CONTRIBUTED = (ROOT, ROOT / "tbprof" / "advice" / "rules", ROOT / "frontend" / "src" / "tools")
PACKAGE = ROOT / "tbprof"
# Where rooms have rooms that a newcomer looks for.
ROOMS_OF = ("tbprof", "analysis", "timeline")
GITHUB = ROOT / ".github"
API = (ROOT / "docs" / "http_api.md").read_text(encoding="utf-8")
# How sections refer to the tables of other tools.
REFERENCES = {"overview_page": "the overview", "input_pipeline_analyzer": "the input pipeline"}
ENDINGS = (".py", ".ts", ".tsx", ".md", ".css", ".mjs", ".proto")
PLACES = (ROOT, ROOT / "tbprof", ROOT / "tbprof" / "analysis", ROOT / "frontend" / "src")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_and_pictures_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target


def test_files_that_the_architecture_names_exist() -> None:
    known = {path.name for path in (ROOT / "tbprof").rglob("*.py")}
    for name in re.findall(r"`([\w./-]+)`", ARCHITECTURE):
        if name.endswith(ENDINGS) or name.endswith("/"):
            there = any((place / name).exists() for place in PLACES)
            assert there or name in known, name


def test_files_and_folders_that_the_page_on_security_names_exist() -> None:
    named = re.findall(r"`([a-z_]+/[\w./]*(?:\.py|/))`", SECURITY)
    assert len(named) > 15
    assert not [name for name in named if not any((at / name).exists() for at in PLACES)]


def test_the_places_that_contributing_names_exist() -> None:
    for name in re.findall(r"`([\w./-]+)`", CONTRIBUTING):
        if name.endswith(ENDINGS) or name.endswith("/"):
            assert any((place / name).exists() for place in CONTRIBUTED), name


def test_every_issue_asks_for_what_the_doctor_says() -> None:
    forms = [path for path in GITHUB.glob("ISSUE_TEMPLATE/*.yml") if path.stem != "config"]
    assert forms
    for path in (*forms, GITHUB / "pull_request_template.md"):
        assert "tbprof doctor" in path.read_text(encoding="utf-8"), path.name


def test_what_workflows_run_is_there() -> None:
    """Scripts, targets and files; `actionlint` reads the rest."""
    steps = "".join(path.read_text(encoding="utf-8") for path in GITHUB.glob("workflows/*.yml"))
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    assert set(re.findall(r"\bmake (\w+) ", steps)) == {"test"} <= targets
    for name in ("CHANGELOG.md", "tbprof/__init__.py", "frontend/package-lock.json"):
        assert name in steps
        assert (ROOT / name).exists()
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## [{__version__}]" in changes or "## [Unreleased]" in changes


def test_the_architecture_is_read_in_ten_minutes_and_names_the_rooms() -> None:
    assert len(ARCHITECTURE.splitlines()) < 180
    words = set(re.findall(r"\w+", ARCHITECTURE))
    rooms = [*PACKAGE.glob("*/__init__.py"), *PACKAGE.glob("*/*/__init__.py")]
    known = {path.parent.name for path in rooms if path.parents[1].name in ROOMS_OF}
    assert len(known) > 25
    assert not known - words


def test_the_architecture_shows_the_layers_that_imports_keep() -> None:
    """One entry of the block is `room <- room, room`; several stand in a line."""
    block = ARCHITECTURE.partition("`tests/test_layers.py` enforces it")[2].split("```")[1]
    shown = {
        room: set(re.findall(r"\w+", below)) - {"nothing"}
        for line in block.splitlines()
        for room, below in re.findall(r"(\w+) +<- +(.+?)(?=\s{2,}|$)", line)
    }
    assert shown == {room: set(LAYERS[room].split()) for room in shown}
    assert set(LAYERS) - set(shown) == {name for name in LAYERS if name.startswith("cli_")}


def test_every_room_says_what_lives_there() -> None:
    for path in PACKAGE.rglob("__init__.py"):
        assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), path


@every_page
def test_the_api_names_every_column_and_property(
    tool: Tool, trace: str, request: pytest.FixtureRequest
) -> None:
    engine, run = opened(trace, request)
    tables = engine.tables(DataRequest(run, tool.name))
    words = words_of(tool)
    for layout in ("rows", "columns"):
        answer = document_of(engine, run, tool.name, layout=layout)
        if not tool.is_list and "cols" not in answer:
            named = set(answer.get("memoryIds", ()))
            assert not set(keys(answer)) - named - words
    assert not {name for table in tables for name in names(table)} - words


def test_the_api_names_every_finding_and_no_others() -> None:
    """Ids are texts in the rules; most are given as such to the finding."""
    texts: set[str] = set()
    given: set[str] = set()
    for path in (PACKAGE / "advice" / "rules").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                texts.add(node.value)
            if isinstance(node, ast.keyword) and node.arg == "id":
                given.add(ast.unparse(node.value).strip("'"))
    [ids] = re.findall(r"`guide_url`\. Ids: (.*?)\n\n", API, re.S)
    named = set(re.findall(r"`([a-z_]+)`", ids))
    assert {id_ for id_ in given if id_ in texts} <= named <= texts


def words_of(tool: Tool) -> set[str]:
    """The words of the sections on a tool, of those that refer to each other, and of no tool."""
    sections = re.split(r"^##+ ", API, flags=re.M)
    [own] = [section for section in sections if section.startswith(f"`{tool.name}`")]
    refers = {other: REFERENCES.get(other.name, other.name) for other in TOOLS}
    others = [
        f"`{other.name}`"
        for other, reference in refers.items()
        if other is not tool and reference not in own
    ]
    related = [
        section
        for section in sections
        if not section.startswith(tuple(others)) or refers[tool] in section
    ]
    return set(re.findall(r"\w+", " ".join(related)))


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
