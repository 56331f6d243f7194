"""Requests of any form to every route: `PYTHONPATH=tests python -m serving.http_fuzz`.

Schemathesis makes them of `openapi.json`: valid ones, and such as break it. Most name a run, a
host, a tool and a version that there are, to reach what is behind. An answer is as described, and
none is 500.
"""

import argparse
import json
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any
from urllib.request import urlopen

from helpers.started.own_server import own_server
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st
from traces import write_run
from traces.bad_files import damaged, sums_beyond_64_bits, years_between_events
from traces.runs import cpu_steps, gpu_steps, tpu_ops

from tbprof.tools import TOOLS

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of libraries that it imports
    import schemathesis
    from schemathesis import GenerationMode
    from schemathesis.checks import CHECKS

_NAMES = (
    "status_code_conformance", "content_type_conformance", "response_schema_conformance"
)  # fmt: skip
# Of the HTTP server itself: a line that is too long.
_BEFORE_ROUTES = (414, 431)
RUNS = {
    "cpu": {"h0": cpu_steps("iiooccpp"), "h1": cpu_steps("oo", start_ns=5)},
    "gpu": {"h0": gpu_steps("hhkkkmmm", "LLii")},
    "tpu": {"h0": tpu_ops()},
    "odd": {"h0": damaged(3), "a,b": sums_beyond_64_bits(), "<b>": years_between_events()},
    "none": {"h0": b"no trace"},
}


@contextmanager
def server() -> Iterator[str]:
    """The address of the routes of a server of `RUNS`."""
    with TemporaryDirectory() as logdir:
        for run, hosts in RUNS.items():
            write_run(Path(logdir), hosts, run)
        with own_server(logdir) as port:
            yield f"http://127.0.0.1:{port}/data/plugin/profile"


def run(examples: int, seed: int) -> Counter[int]:
    """How many answers had each status, of so many requests to each route."""
    counts: Counter[int] = Counter()
    with server() as address:
        schema = schemathesis.openapi.from_url(f"{address}/openapi.json")
        schema.config.update(base_url=address)
        known = list(_known(address))
        for found in schema.get_all_operations():
            operation = found.ok()
            _ask(operation, examples, seed, known, counts)
    return counts


def _known(address: str) -> Iterator[dict[str, str]]:
    """Runs, hosts and versions of timelines that there are."""
    for run, hosts in RUNS.items():
        for host in hosts:
            for part in ("events", "derived") if run not in ("none", "odd") else ():
                with urlopen(f"{address}/timeline?run={run}&host={host}&part={part}") as answer:
                    version = json.load(answer)["version"]
                yield {"run": run, "host": host, "part": part, "version": version}
            yield {"run": run, "host": host}


def _ask(
    operation: Any, examples: int, seed: int, known: list[dict[str, str]], counts: Counter[int]
) -> None:
    modes = [GenerationMode.POSITIVE, GenerationMode.NEGATIVE]
    cases = st.one_of(*(operation.as_strategy(generation_mode=mode) for mode in modes))

    @seeded(seed)
    @settings(
        max_examples=examples, database=None, deadline=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(cases, st.integers(0, 2**32))
    def ask(case: Any, number: int) -> None:
        _name_known(case, Random(number), known)
        answer = case.call()
        counts[answer.status_code] += 1
        assert answer.status_code != 500, answer.text
        if answer.status_code not in _BEFORE_ROUTES:
            case.validate_response(answer, checks=CHECKS.get_by_names(_NAMES))

    ask()


def _name_known(case: Any, random: Random, known: list[dict[str, str]]) -> None:
    """Puts names that there are in place of most of the query's."""
    if not isinstance(case.query, dict) or random.random() < 0.2:
        return
    values = {**random.choice(known), "tag": random.choice(TOOLS).name}
    ranges = {
        "from": 0, "to": random.randrange(1, 9), "level": random.randrange(53),
        "id": random.randrange(9), "q": random.choice("akoM"), "kernel": "relu_kernel",
    }  # fmt: skip
    for name, value in {**values, **ranges}.items():
        if name in case.query and random.random() < 0.9:
            case.query[name] = value


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=1000, help="requests to each route")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    started = time.perf_counter()
    counts = run(chosen.examples, chosen.seed)
    took = time.perf_counter() - started
    print(f"seed {chosen.seed}: {counts.total()} requests, {dict(counts)}, {took:.0f} s")  # noqa: T201


if __name__ == "__main__":
    main()
