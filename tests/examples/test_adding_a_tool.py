"""What examples/adding_a_tool.md says, done in a copy of the project."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from textwrap import indent

import pytest
from helpers.commands import python_prints
from traces import draw, write

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "examples" / "adding_a_tool.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"`([\w/.]+)`:\n\n```\w+\n(.*?)```", PAGE, re.DOTALL))
ENTRY = re.search(r"```python\n(Tool\(.*?\n\))\n```", PAGE, re.DOTALL)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the project with the new tool in it."""
    shutil.copytree(ROOT / "tbprof", tmp_path / "tbprof")
    frontend = tmp_path / "frontend"
    shutil.copytree(ROOT / "frontend" / "src", frontend / "src")
    for name in ("tsconfig.json", "biome.json", "package.json"):
        shutil.copy(ROOT / "frontend" / name, frontend)
    _check_types_of(frontend, "src/tools/worker_steps")
    (frontend / "node_modules").symlink_to(ROOT / "frontend" / "node_modules")
    assert len(FILES) == 3
    for name, content in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content, encoding="utf-8")
    registry = tmp_path / "tbprof" / "tools" / "registry.py"
    listed = registry.read_text(encoding="utf-8").rstrip()
    assert ENTRY
    assert listed.endswith("\n)")
    registry.write_text(listed[:-1] + indent(ENTRY[1], "    ") + ",\n)\n", encoding="utf-8")
    return tmp_path


def _check_types_of(frontend: Path, folder: str) -> None:
    """Leaves the types of other files, but for those that the folder imports, to other checks."""
    path = frontend / "tsconfig.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**config, "include": [folder]}), encoding="utf-8")


def test_the_module_and_the_entry_are_a_tool(copy: Path, tmp_path: Path):
    drawn = {
        "/host:CPU": "python |ssssssss..tttttttt",
        "/device:GPU:0": "Stream #1 |..kkk.......kkkk..",
    }
    steps = {letter: {"_r": 1, "step_num": at} for at, letter in enumerate("st", 7)}
    trace = write(tmp_path, draw(drawn, names=dict.fromkeys("st", "train"), stats=steps))
    said = python_prints(
        "-m", "tbprof.cli", "export", trace, "--tool", "worker_steps",
        cwd=copy, PYTHONPATH=str(copy), TBPROF_CACHE_DIR=str(tmp_path / "cache"),
    )  # fmt: skip
    table = json.loads(said)
    assert [column["id"] for column in table["cols"]] == [
        "host", "worker", "step", "duration_us", "is_truncated",
    ]  # fmt: skip
    # The last step has no next one, which would say how long it goes on.
    rows = [[cell["v"] for cell in row["c"][1:]] for row in table["rows"]]
    assert rows == [["GPU:0", "train 7", 10, False], ["GPU:0", "train 8", 8, True]]


@pytest.mark.slow
def test_the_folder_is_a_page(copy: Path):
    programs = copy / "frontend" / "node_modules" / ".bin"
    for command in (["tsc", "--noEmit"], ["biome", "lint", "src/tools/worker_steps"]):
        result = subprocess.run(
            [programs / command[0], *command[1:]],
            cwd=copy / "frontend",
            capture_output=True,
            text=True,
        )
        assert result.returncode == 0, result.stdout
