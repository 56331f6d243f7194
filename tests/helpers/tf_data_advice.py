"""Advice on input pipelines made by hand, by id."""

from collections.abc import Mapping, Sequence

from builders.tf_data_calls import Made, Node, chain, made

from tbprof.advice.finding import SEVERITIES, Finding
from tbprof.advice.tf_data.tf_data_case import PipelineFacts
from tbprof.advice.tf_data.tf_data_diagnosis import diagnose_pipelines
from tbprof.advice.tf_data.tf_data_pipelines import find_pipelines

ALONE = PipelineFacts(hosts=1, has_gpu=False, python_ps=0)


MS = 1_000_000_000


Parameters = Mapping[str, Mapping[str, object]]


def advice_on(
    nodes: Sequence[Node], parameters: Parameters | None = None, facts: PipelineFacts = ALONE
) -> dict[str, Finding]:
    """By id: what is said of a pipeline whose every call is this one, without a pause."""
    calls = [(index * nodes[0].total, nodes) for index in range(3)]
    part = made(Made(calls, parameters=parameters or {}))
    [diagnosis] = diagnose_pipelines(find_pipelines(["h0"], [part]), {"h0": facts})
    assert len({finding.id for finding in diagnosis.findings}) == len(diagnosis.findings)
    for one in diagnosis.findings:
        assert one.severity in SEVERITIES
        assert one.title
        assert one.detail
        assert one.action.endswith(".")
        assert one.guide.url.startswith("https://")
        for code in (one.action, one.code):
            assert "nan" not in code.split()
    return {finding.id: finding for finding in diagnosis.findings}


def bound_by(
    *stages: str, own: int = 800, calls: int = 4, taken: int = 4,
    worker: int = -1, wait: int = 0,
    last: Mapping[str, object] | None = None, root: Mapping[str, object] | None = None,
    facts: PipelineFacts = ALONE, below: str = "Range",
) -> dict[str, Finding]:  # fmt: skip
    """What is said where the last of `stages` takes `own` of 1000 µs; `last`: its parameters."""
    names = chain(*stages)
    nodes = [Node(name, 1000 - at, 1) for at, name in enumerate(names[:-1])]
    nodes.append(Node(names[-1], 1000 - len(nodes), own, calls, worker=worker, wait=wait))
    if below:
        rest = nodes[-1].total - own
        nodes.append(Node(f"{names[-1]}::{below}", rest, rest, taken))
    return advice_on(nodes, {names[-1]: last or {}, names[0]: root or {}}, facts)


def said_in(findings: Mapping[str, Finding]) -> str:
    return " ".join(f"{one.title} {one.action} {one.code}" for one in findings.values())
