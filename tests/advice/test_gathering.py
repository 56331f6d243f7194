"""What evidence is gathered from."""

from dataclasses import fields

import pytest
from traces.every_trace import every_trace, summaries_of

from tbprof.advice.evidence import Evidence
from tbprof.advice.gathering import FIELDS, PARTS, gather
from tbprof.advice.summaries import Summaries
from tbprof.engine.parts import PARTS as KNOWN


def test_every_field_of_the_evidence_is_a_part_or_made_of_several():
    made = {"job", "means", "outliers", "memory", "input_cause", "idle"}
    assert {field.name for field in fields(Evidence)} == {*FIELDS, *made, "promised"}


def test_the_parts_are_known_and_named_once():
    assert set(PARTS) <= set(KNOWN)
    assert len(set(PARTS)) == len(PARTS)


@every_trace
def test_no_other_part_is_looked_at(trace: str, request: pytest.FixtureRequest):
    summaries = summaries_of(trace, request)
    taken = _Watched(summaries)
    gather(Summaries(summaries.hosts, taken))
    assert taken.names == set(PARTS)


class _Watched(dict[str, list[object]]):
    """Parts that know which of them were asked for."""

    def __init__(self, summaries: Summaries) -> None:
        super().__init__({name: list(parts) for name, parts in summaries.parts.items()})
        self.names: set[str] = set()

    def __getitem__(self, name: str) -> list[object]:
        self.names.add(name)
        return super().__getitem__(name)
