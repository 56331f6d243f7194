"""Prints the ten slowest tests of the steps of a check, for the end of its output.

    python scripts/slowest.py FOLDER

FOLDER holds the tests of each step that ran any, in STEP.xml, as JUnit writes them.
"""

import heapq
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

TESTS = 10


def slowest_tests(folder: Path) -> list[str]:
    """Lines of seconds, step and test, the longest first; with what pytest set up for it."""
    tests = [
        (float(case.get("time", 0)), f"{report.stem}: {case.get('classname')}: {case.get('name')}")
        for report in sorted(folder.glob("*.xml"))
        for case in ET.parse(report).iter("testcase")
    ]
    return [f"{seconds:6.1f} s  {test}" for seconds, test in heapq.nlargest(TESTS, tests)]


if __name__ == "__main__":
    print("\n== slowest tests", *slowest_tests(Path(sys.argv[1])), sep="\n")
