"""`tbprof doctor`: says why a tab, a page or a capture stays empty."""

from __future__ import annotations

import json
import re
import sys
from argparse import ArgumentParser, Namespace
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from tbprof.base.addresses import is_ip_address
from tbprof.base.process.terminal import printable

if TYPE_CHECKING:
    from tbprof.engine.doctor import Check

_SIGNS = {"good": "✓", "note": "!", "bad": "✗"}
_WAIT_S = 600.0
# A server address for browsers and profilers; followed by a path, it may be a storage.
_SERVER = re.compile(r"grpc://|https?://[^/]*/?$", re.IGNORECASE)


def declare(parser: ArgumentParser) -> None:
    """Adds the arguments of the command to its parser."""
    parser.epilog = (
        "Without arguments, only the installation is checked. The exit status is 1 if anything "
        "is wrong."
    )
    parser.add_argument("targets", metavar="LOGDIR|FILE|ADDRESS", nargs="*")
    parser.add_argument("--json", dest="as_json", action="store_true", help="print JSON, one list")


def doctor(chosen: Namespace) -> None:
    """Prints what is good and what is wrong; raises SystemExit with 1 if anything is wrong."""
    from tbprof.engine.doctor import examine_installation

    checks = examine_installation()
    for target in chosen.targets:
        checks.extend(_of_address(target) if _is_address(target) else _of_logdir(target))
    if chosen.as_json:
        print(json.dumps([asdict(check) for check in checks], indent=2))
    else:
        for check in checks:
            print("\n".join(_lines(check)))
    sys.exit(1 if any(check.kind == "bad" for check in checks) else 0)


def _lines(check: Check) -> list[str]:
    texts = [
        f"{_SIGNS[check.kind]} {check.about}: {check.text}",
        *([f"  → {check.fix}"] * bool(check.fix)),
    ]
    return list(map(printable, texts))


def _is_address(target: str) -> bool:
    """Whether the target is a server, even with a wrong address; an existing path is not."""
    if Path(target).exists():
        return False
    if _SERVER.match(target):
        return True
    is_path = "/" in target or "\\" in target
    return not is_path and (":" in target or target.lower() == "localhost" or is_ip_address(target))


def _of_address(target: str) -> list[Check]:
    from tbprof.capturing.probing.probe import probe_all
    from tbprof.capturing.requests.targets import BadAddress, parse_targets
    from tbprof.engine.doctor import Check

    try:
        targets = parse_targets(target)
    except BadAddress as error:
        return [Check("bad", "address", error.message, error.hint)]
    return [
        Check("good", f"{target.address}: {finding.step.value}", finding.detail or "answers")
        if finding.reason is None
        else Check(
            "bad",
            f"{target.address}: {finding.step.value}",
            finding.reason.text,
            finding.reason.fix,
        )
        for target, findings in zip(targets, probe_all(targets), strict=True)
        for finding in findings
    ]


def _of_logdir(target: str) -> list[Check]:
    from tbprof.engine.doctor import examine_logdir
    from tbprof.engine.engine import Engine
    from tbprof.storage.logdir import Logdir
    from tbprof.storage.results import ResultStore

    logdir = Logdir([target], wait_s=_WAIT_S)
    return examine_logdir(logdir, Engine(logdir, ResultStore()))
