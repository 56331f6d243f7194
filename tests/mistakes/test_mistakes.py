"""Mistakes that xprof is known to make are not made; docs/differences.md says what is shown."""

from collections import Counter
from pathlib import Path

import pytest

from mistakes import of_memory, of_ops, of_steps, of_tf_data, of_trace_viewer
from mistakes.catalogue import MISTAKES, Mistake, shower

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "differences.md"
AREAS = {
    of_steps.STEPS: 29,
    of_ops.OPS: 10,
    of_ops.KERNELS: 5,
    of_memory.MEMORY: 8,
    of_trace_viewer.VIEWER: 8,
    of_tf_data.TF_DATA: 7,
}
TITLE = "\n## Known mistakes of xprof\n"
HEAD = f"""{TITLE}
What xprof 2.24.2 gets wrong, and what tbprof shows for a small trace of each case. The last column
names the case of `tests/mistakes/test_mistakes.py::test_a_known_mistake_is_not_made`. The test run
writes this section.

| area | xprof | tbprof | test |
| --- | --- | --- | --- |
"""
shown: dict[str, str] = {}


def test_all_known_mistakes_are_tried():
    assert Counter(one.area for one in MISTAKES) == AREAS
    assert sum(AREAS.values()) == 67


@pytest.mark.parametrize("one", [pytest.param(one, id=one.name) for one in MISTAKES])
def test_a_known_mistake_is_not_made(one: Mistake, tmp_path: Path):
    shown[one.name] = one.find(shower(tmp_path))


def test_the_table_of_the_documents_is_what_was_found(tmp_path: Path):
    show = shower(tmp_path)
    lines = []
    for one in sorted(MISTAKES, key=lambda one: list(AREAS).index(one.area)):
        found = shown.get(one.name) or one.find(show)
        lines.append(f"| {one.area} | {one.text} | {found} | `{one.name}` |")
    before = DOCUMENT.read_text(encoding="utf-8")
    text = before.partition(TITLE)[0] + HEAD + "\n".join(lines) + "\n"
    if text != before:
        DOCUMENT.write_text(text, encoding="utf-8")
