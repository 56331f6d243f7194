"""Findings about TPU ops, just below, at and above their thresholds."""

import dataclasses
from pathlib import Path
from urllib.parse import parse_qs

import pytest
from analysis.tpu.test_tpu_ops import ran
from builders.evidence import TPU, claim, evidence, finding_of
from helpers.tables import pairs
from traces import drawn_space

from tbprof.advice.evidence import Evidence
from tbprof.advice.finding import Finding
from tbprof.advice.rules.devices.findings_tpu import TPU_RULES, grouped
from tbprof.advice.rules.findings import find_findings
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.tpu.tpu_ops import TpuOps, find_tpu_ops
from tbprof.analysis.vocabulary.instruction_roles import Move, Reduction
from tbprof.analysis.vocabulary.phases import Phase
from tbprof.analysis.vocabulary.tpu_op_names import Random
from tbprof.engine.engine import DataRequest, Engine
from tbprof.storage.logdir import Logdir
from tbprof.xplane.reader import read_space

# f32[6,96] lies in 8 x 128: 576 of 1,024 elements, 43.75 % padding. f32[8,128] fills its tile.
PADDED = "%{} = f32[6,96]{{1,0:T(8,128)}} {}(f32[6,96]{{1,0:T(8,128)}} %x)"
WHOLE = "%{} = f32[8,128]{{1,0:T(8,128)}} {}(f32[8,128]{{1,0:T(8,128)}} %x)"
FACTS: dict[str, dict[str, object]] = {
    "tpu_max_pool_gradient": {"is_pool_gradient": True},
    "tpu_batch_norm": {"is_batch_norm": True},
    "tpu_reductions": {"reduction": int(Reduction.CHAINED)},
    "tpu_random": {"random": int(Random.COSTLY)},
}


def tpu_ops(*rows: tuple[str, str, int], **facts: object) -> TpuOps:
    """(text with two gaps, opcode, self ns) of each op; `facts` are columns of the first one."""
    names = [f"op.{index}" for index in range(len(rows))]
    ops = ran(
        None, *(row[0].format(name, row[1]) for name, row in zip(names, rows, strict=True)),
        tf_op={name: f"m/{name}:Op" for name in names},
    )  # fmt: skip
    for at, row in enumerate(rows):
        ops.self_ps[at] = row[2] * 1000
    for name, value in facts.items():
        getattr(ops, name)[0] = value
    return ops


def tpu(ops: TpuOps | None, split: dict[Phase, int] | None = None) -> Evidence:
    return evidence(split, devices=TPU, tpu_ops=ops)


def by_rule(ops: TpuOps | None, split: dict[Phase, int] | None = None) -> dict[str, Finding]:
    given = tpu(ops, split)
    return {one.id: one for rule in TPU_RULES for one in rule(given)}


# Of a second: an op whose time counts whole.
@pytest.mark.parametrize("name", FACTS)
@pytest.mark.parametrize(
    ("thousandths", "severity"),
    [(29, None), (30, "moderate"), (149, "moderate"), (150, "high"), (151, "high")],
)
def test_a_rule_counts_from_its_thresholds(name, thousandths, severity):
    ops = tpu_ops((WHOLE, "add", thousandths), (WHOLE, "add", 1000 - thousandths), **FACTS[name])
    findings = by_rule(ops)
    assert [one.severity for one in findings.values()] == [severity] * (severity is not None)
    if severity is not None:
        one = findings[name]
        assert one.value == pytest.approx(thousandths / 10)
        assert one.threshold == (15.0 if severity == "high" else 3.0)
        assert one.gain_ratio == pytest.approx(thousandths / 1000)
        assert f"{thousandths / 10:.1f} %" in one.title
        assert "m/op.0 as op.0" in one.detail


@pytest.mark.parametrize(("thousandths", "severity"), [(68, None), (69, "moderate")])
def test_of_padded_ops_the_wasted_part_of_their_time_counts(thousandths, severity):
    """43.75 % of 6.8 % is 2.98 %, of 6.9 % 3.02 %."""
    findings = by_rule(tpu_ops((PADDED, "add", thousandths), (WHOLE, "add", 1000 - thousandths)))
    assert [one.severity for one in findings.values()] == [severity] * (severity is not None)
    if severity is not None:
        one = findings["tpu_padding"]
        assert one.value == pytest.approx(100 * 0.069 * 0.4375)
        assert "43.8 % padding, f32[6,96]: 6 as 8, 96 as 128" in one.detail


def test_ops_with_less_than_a_tenth_of_padding_are_not_padded():
    """f32[8,116] is 9.4 % padding, f32[8,115] 10.2 %."""
    for size, names in ((116, []), (115, ["tpu_padding"])):
        text = f"%{{}} = f32[8,{size}]{{{{1,0:T(8,128)}}}} {{}}(f32[8,{size}]{{{{1,0:T(8,128)}}}})"
        assert list(by_rule(tpu_ops((text, "add", 1000)))) == names


def test_what_moves_padded_data_counts_as_a_move_and_not_as_padding():
    findings = by_rule(
        tpu_ops(
            (PADDED, "transpose", 100), (PADDED, "reshape", 50), (WHOLE, "transpose", 20),
            (WHOLE, "add", 830),
        )
    )  # fmt: skip
    assert list(findings) == ["tpu_padded_moves"]
    one = findings["tpu_padded_moves"]
    assert one.value == pytest.approx(15.0)
    assert one.detail.startswith("Transposes 10.0 %, reshapes 5.0 %. ")
    assert "Moving data with little padding takes 2.0 %" in one.detail


def test_the_batch_rule_is_for_programs_that_pad_convolutions():
    plain = by_rule(tpu_ops((PADDED, "add", 1000)))["tpu_padding"]
    assert "batch size of the convolutions" not in plain.action
    padded = by_rule(tpu_ops((PADDED, "convolution", 500), (WHOLE, "add", 500)))["tpu_padding"]
    assert "batch size of the convolutions is 64 or more" in padded.action
    whole = by_rule(tpu_ops((PADDED, "add", 500), (WHOLE, "convolution", 500)))["tpu_padding"]
    assert "batch size of the convolutions" not in whole.action


def test_reshapes_of_padded_arrays_may_go_to_the_host():
    reshapes = by_rule(tpu_ops((PADDED, "reshape", 500), (WHOLE, "add", 500)))["tpu_padded_moves"]
    assert "on the host" in reshapes.action
    turns = by_rule(tpu_ops((PADDED, "transpose", 500), (WHOLE, "add", 500)))["tpu_padded_moves"]
    assert "on the host" not in turns.action


def test_moves_between_space_and_batch_count_without_padding():
    ops = tpu_ops((WHOLE, "copy", 100), (WHOLE, "add", 900), move=int(Move.SPACE))
    assert list(by_rule(ops)) == ["tpu_padded_moves"]


@pytest.mark.parametrize(("own", "names"), [(9, []), (10, ["tpu_random"])])
def test_only_ops_with_one_percent_of_the_time_count(own, names):
    """Ten ops of 0.9 % each are none to look at, ten of 1 % are."""
    ops = tpu_ops(*[(WHOLE, "add", own)] * 10, (WHOLE, "add", 1000 - 10 * own))
    ops.random[:10] = Random.COSTLY
    findings = by_rule(ops)
    assert list(findings) == names
    for one in findings.values():
        assert one.value == pytest.approx(10.0)
        assert "and 7 more" in one.detail


def test_the_gain_is_the_part_of_a_step_in_which_cores_run_ops():
    """Half of each step of 1 ms nothing runs, so 20 % of op time is a tenth of it."""
    ops = tpu_ops((WHOLE, "add", 200), (WHOLE, "add", 800), **FACTS["tpu_random"])
    one = by_rule(ops, {Phase.OTHER: 500})["tpu_random"]
    assert (one.gain_ms, one.gain_ratio) == (pytest.approx(0.1), pytest.approx(0.1))


def test_tiles_that_are_assumed_are_told():
    stated = by_rule(tpu_ops((PADDED, "add", 1000)))["tpu_padding"]
    bare = by_rule(tpu_ops(("%{} = f32[6,96] {}(f32[6,96] %x)", "add", 1000)))["tpu_padding"]
    assert stated.value == pytest.approx(bare.value)
    assert "does not state the tile size" in bare.detail
    assert "does not state the tile size" not in stated.detail


def test_the_link_shows_the_ops_worst_first():
    ops = tpu_ops((WHOLE, "add", 200), (WHOLE, "add", 800), **FACTS["tpu_random"])
    page = by_rule(ops)["tpu_random"].evidence
    assert page.tool == "framework_op_stats"
    assert parse_qs(page.query) == {"f.operation": ["=m/op.0"]}
    ops.random[1] = Random.COSTLY
    ops.op[1] = "jit(f)/a+b"
    query = parse_qs(by_rule(ops)["tpu_random"].evidence.query)
    assert query == {"f.operation": [r"/^(jit\(f\)\/a\+b|m\/op\.0)$/"]}


def test_links_hold_no_more_than_a_filter_takes():
    ops = tpu_ops(*[(WHOLE, "add", 100)] * 10)
    ops.random[:] = Random.COSTLY
    ops.op[:] = [f"{'x' * 200}{index}" for index in range(10)]
    (pattern,) = parse_qs(by_rule(ops)["tpu_random"].evidence.query)["f.operation"]
    assert pattern.count("|") == 1
    ops.op[:] = [f"{'x' * 600}{index}" for index in range(10)]
    (exact,) = parse_qs(by_rule(ops)["tpu_random"].evidence.query)["f.operation"]
    assert exact == f"={'x' * 600}0"


def test_names_with_braces_and_markup_are_shown_as_they_are():
    ops = tpu_ops((WHOLE, "add", 1000), **FACTS["tpu_random"])
    ops.op[0] = "{share}<b>{ops}{0}"
    assert "{share}<b>{ops}{0} as op.0" in by_rule(ops)["tpu_random"].detail


def test_no_tpu_no_time_and_no_steps():
    assert by_rule(None) == {}
    space = drawn_space({"/host:CPU": "t |aa"})
    nothing = find_tpu_ops(space, Programs(space))
    assert by_rule(nothing) == {}
    still = dataclasses.replace(
        tpu_ops((WHOLE, "add", 0), **FACTS["tpu_random"]),
    )
    assert by_rule(still) == {}


def test_the_trace_of_a_v6e_is_not_padded(tpu_trace: Path):
    space = read_space(tpu_trace)
    assert by_rule(find_tpu_ops(space, Programs(space))) == {}


def test_findings_of_tpu_ops_are_among_all_findings():
    ops = tpu_ops((PADDED, "add", 1000))
    assert "tpu_padding" in {finding.id for finding in find_findings(tpu(ops))}


def test_copies_to_and_from_the_host_are_one_finding_of_their_own():
    """Of 1,000 µs of ops 300 fetch from the host and 200 write to it; a step spends 400 so."""
    fetch = "%{} = f32[8,128]{{1,0:T(8,128)}} {}(f32[8,128]{{1,0:T(8,128)S(5)}} %x)"
    offload = "%{} = f32[8,128]{{1,0:T(8,128)S(5)}} {}(f32[8,128]{{1,0:T(8,128)}} %x)"
    ops = tpu_ops(
        (fetch, "copy-done", 300), (offload, "copy-done", 195), (offload, "copy-start", 5),
        (WHOLE, "copy-done", 100), (fetch, "fusion", 400),
    )  # fmt: skip
    assert ops.is_host_copy.tolist() == [True, True, True, False, False]
    given = tpu(ops, {Phase.HOST_TRANSFER: 400})
    by_id = {finding.id: finding for finding in find_findings(given)}
    assert "device_to_device" not in by_id
    found = by_id["host_transfers"]
    assert found.title == "40.0 % of step time goes to copies between device and host memory"
    assert found.gain_ms == pytest.approx(0.4)
    assert "30.0 % goes to copies from the host (op.0) and 20.0 % to copies to the host (op.1" in (
        found.detail
    )
    assert "op.2" not in found.detail
    assert found.guide.title == "JAX memories and host offloading"
    assert parse_qs(found.evidence.query) == {"f.operation": [r"/^(m\/op\.0|m\/op\.1|m\/op\.2)$/"]}


def test_the_v6e_waits_for_what_it_offloads(tpu_trace: Path):
    engine = Engine(Logdir(str(tpu_trace)))
    tables = engine.tables(DataRequest(engine.runs()[0], "overview_page"))
    found = pairs(tables[7], "id", "gain_ms")
    assert found == {"host_transfers": pytest.approx(760.09, abs=0.01)}
    step = tables[1].properties
    assert step["host_transfer_ms_average"] == "760.09"
    assert step["device_to_device_time_ms_avg"] == "0.0"
    assert step["tc_compute_ms_average"] == step["tc_active_ms_average"] == "24.05"
    figures = pairs(tables[8], "id", "text")
    assert figures["device_busy"] == "100.0 %"


def test_copies_from_and_to_vmem_are_xlas_own():
    """Half of the ops' time; no op is to be placed elsewhere for them."""
    near = "%{} = f32[8,128]{{1,0:T(8,128)S(1)}} {}(f32[8,128]{{1,0:T(8,128)}} %x)"
    ops = tpu_ops((near, "copy-done", 350), (near, "slice-start", 150), (near, "fusion", 500))
    assert ops.is_vmem_copy.tolist() == [True, True, False]
    assert not ops.is_host_copy.any()
    given = tpu(ops, {Phase.DEVICE_TO_DEVICE: 400})
    found = claim(given, "device_to_device")
    assert "50.0 % goes to copies between HBM and the cores' own memory (VMEM) (2 op ops)" in (
        found.detail
    )
    assert "XLA copies the inputs of the next ops to VMEM" in found.action
    assert "Place ops" not in found.action
    assert finding_of(given, "host_transfers") is None


def test_ops_are_to_be_placed_together_where_devices_send_to_each_other():
    sent = "%{} = f32[8,128]{{1,0:T(8,128)}} {}(f32[8,128]{{1,0:T(8,128)}} %x)"
    ops = tpu_ops((sent, "recv-done", 300), (WHOLE, "copy-done", 200), (WHOLE, "fusion", 500))
    found = claim(tpu(ops, {Phase.DEVICE_TO_DEVICE: 400}), "device_to_device")
    assert "30.0 % goes to sends and receives between devices (op.0)" in found.detail
    assert found.action.startswith("Avoid unnecessary copies")
    assert found.action.endswith("Place ops that share data on one device.")


def test_copies_on_the_device_are_not_said_to_go_to_the_host():
    ops = tpu_ops((WHOLE, "copy-done", 400), (WHOLE, "fusion", 600))
    given = tpu(ops, {Phase.DEVICE_TO_DEVICE: 400})
    assert finding_of(given, "host_transfers") is None
    found = claim(given, "device_to_device")
    assert found.guide.title == "Cloud TPU performance guide"
    assert "host" not in found.detail


def test_ops_are_listed_by_kind():
    assert grouped(["copy-done.4", "copy-done.2", "fusion.7", "copy-done", "copy-done.2"]) == (
        "3 copy-done ops, fusion.7"
    )
    assert grouped(["a.1", "b", "c.2.remat", "d", "e"]) == "a.1, b, c.2.remat and 2 more"
    assert grouped([]) == ""
