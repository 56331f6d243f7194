"""`tbprof` that computes some parts only once a file is there.

python held_server.py GATE PART,PART serve LOGDIR --port 0
"""

import sys
import time
from pathlib import Path

from tbprof import cli
from tbprof.engine.hosts import summary_cache

GATE, HELD = Path(sys.argv[1]), sys.argv[2].split(",")
compute = summary_cache._compute  # noqa: SLF001 - where every part is computed


def compute_behind_gate(
    space: summary_cache.OpenSpace, part: summary_cache.PartKey, needed: list[object]
) -> summary_cache.PartResult:
    """The same as without a gate, later."""
    while part.name in HELD and not GATE.exists():
        time.sleep(0.01)
    return compute(space, part, needed)


summary_cache._compute = compute_behind_gate  # noqa: SLF001
cli.main([*sys.argv[3:], "--processes", "0"])
