"""What an input-bound program waits for."""

import dataclasses

import pytest
from builders.evidence import GPU, NO_GPU, TPU, cause_of, claim, evidence

from tbprof.advice.input.input_cause import InputCause
from tbprof.advice.pages import TF_DATA
from tbprof.advice.rules.steps.findings_input import input_bound
from tbprof.analysis.devices.devices import Devices
from tbprof.analysis.vocabulary.phases import Phase
from tbprof.tools.overview.overview_advice import recommendation_table


def test_an_input_bound_program_is_told_what_its_input_waits_for():
    given = evidence({Phase.INPUT: 300})
    given = dataclasses.replace(given, input_cause=cause_of())
    finding = claim(given, "input_bound")
    assert finding.title.endswith(
        "30.0 % of step time is spent waiting for input, mostly for ParallelMap"
    )
    assert finding.detail.endswith("ParallelMap takes 200 µs.")
    assert finding.action == "Make it cheaper."
    assert finding.gain_ms == pytest.approx(0.3)
    assert finding.next_page == TF_DATA
    assert finding.evidence.tool == "trace_viewer"


@pytest.mark.parametrize(("devices", "is_sent"), [(NO_GPU, True), (GPU, True), (TPU, False)])
def test_data_on_its_way_to_devices_is_not_said_to_be_input(devices: Devices, is_sent: bool):
    given = evidence({Phase.INPUT: 300}, devices=devices)
    given = dataclasses.replace(given, input_cause=cause_of("transfer", ""))
    finding = claim(given, "input_bound")
    sent = "30.0 % of step time goes to sending data to devices"
    assert (finding.title == sent) == is_sent
    assert ("input-bound" in finding.title) != is_sent
    statement = recommendation_table(given).properties["statement"]
    assert statement.startswith("30.0 % of step time is spent sending") == is_sent


def test_how_much_a_program_waits_for_input_is_no_matter_of_what_others_promise():
    """All pages say "highly" of 30 %, of which half is left to gain."""
    given = evidence({Phase.INPUT: 300})
    [finding] = input_bound(dataclasses.replace(given, promised={Phase.INPUT: 15.0}))
    assert "highly input-bound: 30.0 %" in finding.title
    assert (finding.severity, finding.gain_ms) == ("moderate", pytest.approx(0.15))
    assert finding.detail.endswith("Other findings cover 150 µs of that.")


@pytest.mark.parametrize("cause", [None, cause_of(stage_ms=0.1), cause_of("unknown", "")])
def test_a_stage_that_takes_less_than_half_is_not_in_the_headline(cause: InputCause | None):
    given = dataclasses.replace(evidence({Phase.INPUT: 300}), input_cause=cause)
    finding = claim(given, "input_bound")
    assert finding.value == pytest.approx(30)
    assert "above all" not in finding.title
