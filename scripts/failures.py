"""Prints what failed in the steps of a check, in few lines, for the end of its output.

    python scripts/failures.py FOLDER STEP...

FOLDER holds what each step wrote: its output in STEP.log, its tests in STEP.xml, where it runs any.
"""

import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

LINES = 80
LINES_OF_TEST = 12
LINES_OF_LOG = 20
COLUMNS = 300

_ESCAPES = re.compile(r"\x1b\[[0-9;]*m")
# Source: pytest, "Note on -v": lines of an assertion begin with E; what vitest says needs no sign.
_PYTEST_ERROR = re.compile(r"^E  ?")


def describe(folder: Path, steps: list[str]) -> list[str]:
    """Lines on each step: its failed tests with their errors, or the end of its output.

    `LINES` in all at most, of which each step has an equal part; the rest is counted.
    """
    share = LINES // max(len(steps), 1) - 2
    lines = []
    for step in steps:
        found = _lines_of(folder, step)
        left = len(found) - share
        lines += ["", f"== failed: {step}", *found[:share]]
        lines += [f"... and {left} lines more, see above"] if left > 0 else []
    return lines


def _lines_of(folder: Path, step: str) -> list[str]:
    log = folder / f"{step}.log"
    text = _ESCAPES.sub("", log.read_text("utf-8", "replace")) if log.exists() else ""
    output = [line[:COLUMNS] for line in text.splitlines() if line.strip()]
    # Errors outside of tests are in no report. Source: vitest, "Unhandled Errors".
    loose = [number for number, line in enumerate(output) if "Unhandled Errors" in line]
    beside = output[loose[-1] :][:LINES_OF_LOG] if loose else []
    return [*failed_tests(folder / f"{step}.xml"), *beside] or output[-LINES_OF_LOG:]


def failed_tests(report: Path) -> list[str]:
    """Names and errors of the tests that failed, of a report as JUnit writes it; none without one.

    All names come first where there are several, so that none is cut off by the error of another.
    """
    try:
        cases = list(ET.parse(report).iter("testcase"))
    except (OSError, ET.ParseError):
        return []
    failed = {
        f"{case.get('classname')}: {case.get('name')}": _error(bad)
        for case in cases
        for bad in (*case.iter("failure"), *case.iter("error"))
    }
    names = [f"FAILED {name}" for name in failed] if len(failed) > 1 else []
    return names + [line for name, error in failed.items() for line in (f"-- {name}", *error)]


def _error(bad: ET.Element) -> list[str]:
    """What a test found instead: lines of the assertion, without code and stack."""
    lines = [line[:COLUMNS] for line in (bad.text or "").splitlines() if line.strip()]
    own = [_PYTEST_ERROR.sub("  ", line) for line in lines if _PYTEST_ERROR.match(line)]
    where = lines[-1:] if own else []  # file:line: error
    chosen = own or lines or [bad.get("message") or "no message"]
    return [*chosen[:LINES_OF_TEST], *where]


if __name__ == "__main__":
    print("\n".join(describe(Path(sys.argv[1]), sys.argv[2:])))
