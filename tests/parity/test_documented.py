"""docs/differences.md names tests that exist."""

import ast
import functools
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "differences.md").read_text(encoding="utf-8")
# The lists of tests below the tables of tools.
LISTED = PAGE.partition("\n## Steps")[2].partition("\n## Known mistakes")[0]
NAMED = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)


@functools.cache
def functions(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_named_test_exists():
    missing = [
        f"{path}::{name}"
        for path, name in NAMED
        if not (ROOT / path).exists() or name not in functions(ROOT / path)
    ]
    assert not missing


def test_every_entry_says_what_each_shows_and_names_a_test():
    tables = PAGE.partition("\n## Known mistakes")[0]
    entries = re.findall(r"^\| \*\*(.+?)\*\*.* \| (.+) \| (.+) \|$", tables, re.MULTILINE)
    assert len(entries) > 100
    tested = re.findall(r"^- (.+): `tests/.+`$", LISTED, re.MULTILINE)
    assert [name for name, *_ in entries] == tested


def test_every_defect_that_a_parity_test_shows_is_documented():
    shown = functions(ROOT / "tests" / "parity" / "test_known_defects.py")
    tests = {name for name in shown if name.startswith("test_")}
    assert tests <= {name for _, name in NAMED}
