"""The output of the checks ends with the slowest tests, and with what failed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from failures import LINES, describe, failed_tests
from slowest import slowest_tests

ROOT = Path(__file__).resolve().parents[1]
TESTS = """
def test_of_numbers():
    assert 1 + 1 == 3, "sum"

def test_of_nothing():
    pass

def test_of_many():
    assert list(range(5)) == list(range(6))
"""
VITEST = """<?xml version="1.0" encoding="UTF-8" ?>
<testsuites><testsuite name="e2e/pod.spec.ts">
<testcase classname="e2e/pod.spec.ts" name="opens"></testcase>
<testcase classname="e2e/pod.spec.ts" name="shows &gt; bars">
<failure message="expected 1 to be 2" type="AssertionError">
AssertionError: expected 1 to be 2

 at e2e/pod.spec.ts:3:49
</failure></testcase></testsuite></testsuites>
"""


def test_failed_tests_of_pytest_are_named_with_their_assertions(tmp_path: Path) -> None:
    (tmp_path / "test_drawn.py").write_text(TESTS, encoding="utf-8")
    report = tmp_path / "report.xml"
    pytest_ = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    command = [*pytest_, f"--junitxml={report}", "test_drawn.py"]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True).returncode == 1
    lines = failed_tests(report)
    names = ["test_drawn: test_of_numbers", "test_drawn: test_of_many"]
    assert lines[:2] == [f"FAILED {name}" for name in names]
    sums = lines.index(f"-- {names[0]}")
    assert lines[sums + 1].strip() == "AssertionError: sum"
    assert "assert (1 + 1) == 3" in " ".join(lines)
    assert lines[-1] == "test_drawn.py:9: AssertionError"


def test_a_failed_test_of_vitest_is_named_with_its_error(tmp_path: Path) -> None:
    (tmp_path / "browser.xml").write_text(VITEST, encoding="utf-8")
    assert failed_tests(tmp_path / "browser.xml") == [
        "-- e2e/pod.spec.ts: shows > bars",
        "AssertionError: expected 1 to be 2",
        " at e2e/pod.spec.ts:3:49",
    ]


def test_a_step_without_a_report_shows_the_end_of_its_output(tmp_path: Path) -> None:
    (tmp_path / "mypy.log").write_text("a.py:1: \x1b[31merror\x1b[0m\nFound 1 error\n")
    assert describe(tmp_path, ["mypy"]) == [
        "", "== failed: mypy", "a.py:1: error", "Found 1 error",
    ]  # fmt: skip


def test_errors_outside_of_tests_are_shown_beside_failed_tests(tmp_path: Path) -> None:
    (tmp_path / "browser.xml").write_text(VITEST, encoding="utf-8")
    log = "passed\n--- Unhandled Errors ---\nError: page has been closed\n"
    (tmp_path / "browser.log").write_text(log)
    assert describe(tmp_path, ["browser"])[-2:] == log.splitlines()[1:]


def test_every_failed_step_has_its_part_of_the_lines(tmp_path: Path) -> None:
    for step in ("one", "two"):
        cases = "".join(
            f"<testcase classname='c' name='{step}{number}'><failure>x</failure></testcase>"
            for number in range(200)
        )
        (tmp_path / f"{step}.xml").write_text(f"<testsuites>{cases}</testsuites>")
    lines = describe(tmp_path, ["one", "two"])
    assert len(lines) <= LINES + 2
    assert {"FAILED c: one0", "FAILED c: two0"} <= set(lines)


@pytest.mark.skipif(sys.platform == "win32", reason="the checks are a script of bash")
@pytest.mark.parametrize("failing", ["npm", "mypy", "pytest"])
def test_the_checks_end_with_what_failed(tmp_path: Path, failing: str) -> None:
    """With programs in place of the real ones, one of which fails; all others still run."""
    scripts, programs = tmp_path / "scripts", tmp_path / ".venv" / "bin"
    scripts.mkdir()
    programs.mkdir(parents=True)
    for name in ("check", "failures.py", "slowest.py"):
        shutil.copy(ROOT / "scripts" / name, scripts / name)
    for name in ("npm", "ruff", "mypy", "pytest", "python"):
        program = programs / name
        program.write_text(
            f"#!/bin/sh\necho of {name}\n" + ("echo broken; exit 1\n" if name == failing else "")
        )
        program.chmod(0o755)
    # The interpreter starts what it is given: the report, or npm on a network of its own.
    (programs / "python").write_text(
        f'#!/bin/sh\n[ "$1" = scripts/loopback.py ] && shift && exec "$@"\n'
        f'exec {sys.executable} "$@"\n'
    )
    environment = {**os.environ, "SLOW": "0", "SET_UP": ""}
    result = subprocess.run([scripts / "check"], capture_output=True, text=True, env=environment)
    assert result.returncode == 1
    assert result.stdout.count("of pytest") == 1
    *lines, last = result.stderr.strip().splitlines()
    steps = {"npm": 4, "mypy": 1, "pytest": 1}[failing]
    assert lines.count("broken") == steps == last.count(",") + 1
    assert last.startswith("failed: ")
    assert failing in last or failing == "npm"


def test_the_slowest_tests_of_all_steps_are_named(tmp_path: Path) -> None:
    for step, first in (("pytest", 1), ("browser", 2)):
        cases = "".join(
            f"<testcase classname='c' name='t{seconds}' time='{seconds}.25'/>"
            for seconds in range(first, 20, 2)
        )
        (tmp_path / f"{step}.xml").write_text(f"<testsuites>{cases}</testsuites>")
    lines = slowest_tests(tmp_path)
    assert len(lines) == 10
    assert lines[:2] == ["  19.2 s  pytest: c: t19", "  18.2 s  browser: c: t18"]
