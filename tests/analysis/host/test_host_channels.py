"""What TPU programs exchange through their hosts: other slices, callbacks, and the rest."""

import pytest
from helpers.promises.evidence_links import check_claim, claims
from traces.tpu_steps import TPU, Op, Overview, tpu_steps

HANDLER = 'frontend_attributes={{_xla_host_transfer_handler_name="{}"}}'
# Of each step of 12 the core computes 9 and receives for 3.
STEP = "cccccccccrrr"


def received(text: str = "", op: str = "") -> dict[str, Op]:
    """The op that receives, with what its text says of the transfer and its framework op."""
    done = "%recv-done.3 = (f32[8]{0}, token[]) recv-done(%recv.3), channel_id=3"
    return {"r": Op("host recv-done", f"{done}, is_host_transfer=true, {text}", op)}


def test_collectives_with_other_slices_are_no_input(tmp_path):
    ops = received(HANDLER.format("xla_megascale_runtime"), "jit(f)/psum")
    overview = Overview(tmp_path, tpu_steps({TPU: STEP}, ops))
    assert overview.shares["collectives"] == 25.0
    assert "input" not in overview.shares
    assert overview.step["input_bottleneck"] == "device"
    assert overview.step["waiting_percent"] == "0.0"
    detail = overview.findings["collectives"]
    assert "25.0 % of the cores' op time goes to exchanges with other slices" in detail
    assert "psum" in detail
    assert not {"input_bound", "host_transfers", "host_callbacks"} & set(overview.findings)
    for claim in claims(overview.engine, overview.run):
        check_claim(overview.engine, overview.run, claim)


@pytest.mark.parametrize(
    ("handler", "op"), [("pjrt_rendezvous", "jit(f)/x"), ("", "jit(f)/jit(main)/pure_callback")]
)
def test_waits_for_callbacks_are_no_input(tmp_path, handler, op):
    text = HANDLER.format(handler) if handler else ""
    overview = Overview(tmp_path, tpu_steps({TPU: STEP}, received(text, op)))
    assert overview.shares["host_callback"] == 25.0
    assert overview.step["host_callback_ms_average"] == "0.00"  # 3 µs
    assert {"input", "collectives", "host_transfer"}.isdisjoint(overview.shares)
    assert "for 25.0 % of step time" in overview.findings["host_callbacks"]
    assert op in overview.findings["host_callbacks"]
    assert not {"input_bound", "host_transfers", "collectives"} & set(overview.findings)
    for claim in claims(overview.engine, overview.run):
        check_claim(overview.engine, overview.run, claim)


def test_outside_compilation_is_said_once(tmp_path):
    ops = received(HANDLER.format("tf_rendezvous"), "model/print:XlaRecvFromHost")
    overview = Overview(tmp_path, tpu_steps({TPU: STEP}, ops))
    assert overview.shares["host_callback"] == 25.0
    assert "outside_compilation" in overview.findings
    assert "host_callbacks" not in overview.findings


def test_what_the_trace_does_not_explain_is_a_transfer_and_no_input(tmp_path):
    overview = Overview(tmp_path, tpu_steps({TPU: STEP}, received()))
    assert overview.shares["host_transfer"] == 25.0
    assert "input" not in overview.shares
    detail = overview.findings["host_transfers"]
    assert "25.0 % of step time goes to transfers between devices and the host" in detail
    assert "Exchanges with the host (recv-done.3)" in detail
    assert "offload" not in detail


def test_infeed_is_input(tmp_path):
    overview = Overview(tmp_path, tpu_steps({TPU: STEP.replace("r", "i")}))
    assert overview.shares["input"] == 25.0
    assert "input_bound" in overview.findings
