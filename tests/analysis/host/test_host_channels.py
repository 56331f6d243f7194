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
    found = Overview(tmp_path, tpu_steps({TPU: STEP}, ops))
    assert found.shares["collectives"] == 25.0
    assert "input" not in found.shares
    assert found.step["input_bottleneck"] == "device"
    assert found.step["waiting_percent"] == "0.0"
    detail = found.findings["collectives"]
    assert "25.0 % of the cores' op time goes to exchanges with other slices" in detail
    assert "psum" in detail
    assert not {"input_bound", "host_transfers", "host_callbacks"} & set(found.findings)
    for claim in claims(found.engine, found.run):
        check_claim(found.engine, found.run, claim)


@pytest.mark.parametrize(
    ("handler", "op"), [("pjrt_rendezvous", "jit(f)/x"), ("", "jit(f)/jit(main)/pure_callback")]
)
def test_waits_for_callbacks_are_no_input(tmp_path, handler, op):
    text = HANDLER.format(handler) if handler else ""
    found = Overview(tmp_path, tpu_steps({TPU: STEP}, received(text, op)))
    assert found.shares["host_callback"] == 25.0
    assert found.step["host_callback_ms_average"] == "0.00"  # 3 µs
    assert {"input", "collectives", "host_transfer"}.isdisjoint(found.shares)
    assert "for 25.0 % of step time" in found.findings["host_callbacks"]
    assert op in found.findings["host_callbacks"]
    assert not {"input_bound", "host_transfers", "collectives"} & set(found.findings)
    for claim in claims(found.engine, found.run):
        check_claim(found.engine, found.run, claim)


def test_outside_compilation_is_said_once(tmp_path):
    ops = received(HANDLER.format("tf_rendezvous"), "model/print:XlaRecvFromHost")
    found = Overview(tmp_path, tpu_steps({TPU: STEP}, ops))
    assert found.shares["host_callback"] == 25.0
    assert "outside_compilation" in found.findings
    assert "host_callbacks" not in found.findings


def test_what_the_trace_does_not_explain_is_a_transfer_and_no_input(tmp_path):
    found = Overview(tmp_path, tpu_steps({TPU: STEP}, received()))
    assert found.shares["host_transfer"] == 25.0
    assert "input" not in found.shares
    detail = found.findings["host_transfers"]
    assert "25.0 % of step time goes to transfers between devices and the host" in detail
    assert "Exchanges with the host (recv-done.3)" in detail
    assert "offload" not in detail


def test_infeed_is_input(tmp_path):
    found = Overview(tmp_path, tpu_steps({TPU: STEP.replace("r", "i")}))
    assert found.shares["input"] == 25.0
    assert "input_bound" in found.findings
