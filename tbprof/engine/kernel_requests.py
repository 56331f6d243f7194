"""Answers requests about the calls of one kernel."""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from tbprof.advice.summaries import Summaries
from tbprof.base.errors import TbprofError
from tbprof.base.records import replace
from tbprof.engine.engine import Engine
from tbprof.engine.requests import choose_files
from tbprof.tools.kernels.kernel_detail import PARTS, ChosenKernel, describe_calls

__all__ = ["ChosenKernel", "kernel_calls"]


def kernel_calls(engine: Engine, run: str, hosts: Sequence[str], chosen: ChosenKernel) -> bytes:
    """The JSON about a kernel on some hosts, all if none is named.

    Hosts that cannot be read are left out, as in the table. Raises RunNotFound, HostNotFound, or
    the error of the first host if none can be read.
    """
    chosen_run = engine.run(run)
    by_host = engine.parts(replace(chosen_run, files=choose_files(chosen_run, hosts)), *PARTS)
    good = {host: result for host, result in by_host.items() if not isinstance(result, TbprofError)}
    if not good:
        raise next(result for result in by_host.values() if isinstance(result, TbprofError))
    parts = {name: [result[name].value for result in good.values()] for name in PARTS}
    return orjson.dumps(describe_calls(Summaries(tuple(good), parts), chosen))
