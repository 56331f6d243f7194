"""Findings about copies within devices, between devices, and between devices and the host."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tbprof.advice.bottlenecks import WAITING
from tbprof.advice.evidence import Evidence, Rule
from tbprof.advice.finding import Finding, graded
from tbprof.advice.guides import GPU_GUIDE, OFFLOADING_GUIDE, TPU_GUIDE
from tbprof.advice.pages import HLO_STATS, OPS, PROGRAMS, TRACE
from tbprof.advice.rules.devices.findings_memory import free_memory_sentence
from tbprof.advice.rules.devices.findings_tpu import NOTABLE, grouped, showing_ops
from tbprof.advice.sentences import milliseconds, percent
from tbprof.analysis.bounds.causes import HOST_LINK
from tbprof.analysis.hlo.host_channels import Peer
from tbprof.analysis.hlo.host_copies import IN_HOST, is_copy
from tbprof.analysis.tpu.tpu_ops import TpuOps
from tbprof.analysis.vocabulary.phases import Phase


def device_to_device(evidence: Evidence) -> Iterator[Finding]:
    """Steps that wait for copies within a device or between devices."""
    share = evidence.share(Phase.DEVICE_TO_DEVICE)
    grade = graded(share, *WAITING)
    if grade is None:
        return
    gain = evidence.gain_of(share, Phase.DEVICE_TO_DEVICE)
    place = evidence.worst_step_in(Phase.DEVICE_TO_DEVICE)
    is_gpu = evidence.platform == "GPU"
    ops = evidence.tpu_ops
    where = _memories(ops) if ops is not None else ""
    trace = TRACE.marking(
        "/memcpy[dp](2|to)[dp]|rocclr_copy/" if is_gpu else "category:copies", place
    )
    advice = _ADVICE
    if ops is not None:
        advice = _VMEM_ADVICE if _is_mostly_vmem(ops) else _ADVICE
        advice += _PLACE if (ops.self_ps[ops.is_between_devices] > 0).any() else ""
    elif evidence.devices.gpus + evidence.devices.tpus > 1:
        advice += _PLACE
    yield Finding(
        id="device_to_device",
        **grade,
        title=f"{percent(share)} of step time goes to copies within or between devices",
        detail=(
            "Copies from device memory to device memory that do not overlap with computation take "
            f"{milliseconds(evidence.means.mean_ms(Phase.DEVICE_TO_DEVICE))} per step.{where}"
        ),
        gain=gain,
        action=advice,
        next_page=OPS.showing(operation="/memcpy|copy/"),
        evidence=trace,
        guide=TPU_GUIDE if evidence.platform == "TPU" else GPU_GUIDE,
    )


_ADVICE = (
    "Avoid unnecessary copies (concatenations, slices, layout changes), and overlap copies with "
    "computation."
)
_VMEM_ADVICE = (
    "XLA copies the inputs of the next ops to VMEM, and the core waits if main memory is slower "
    "than computation. Keep arrays in 16-bit types, and do more computation per byte read."
)
_PLACE = " Place ops that share data on one device."


def _is_mostly_vmem(ops: TpuOps) -> bool:
    """Whether copies to and from VMEM take most of the time of device copies."""
    is_host = ops.is_host_copy
    copies = np.array([is_copy(opcode) for opcode in ops.opcode], bool) & ~is_host
    copy_ps = float(ops.self_ps[copies | ops.is_between_devices].sum())
    return 2 * float(ops.self_ps[ops.is_vmem_copy].sum()) > copy_ps


def _memories(ops: TpuOps) -> str:
    """A sentence on the share of op time in copies, by destination; "" if there are none."""
    total_ps = float(ops.self_ps.sum())
    parts: list[str] = []
    for name, is_kind in (
        ("copies between HBM and the cores' own memory (VMEM)", ops.is_vmem_copy),
        ("sends and receives between devices", ops.is_between_devices),
    ):
        rows = ops.longest(is_kind)
        if rows:
            op_names = grouped([ops.name[row] for row in rows])
            share = percent(100 * float(ops.self_ps[rows].sum()) / total_ps)
            parts.append(f"{share}{'' if parts else ' goes'} to {name} ({op_names})")
    return f" Of the cores' op time, {' and '.join(parts)}." if parts else ""


def host_transfers(evidence: Evidence) -> Iterator[Finding]:
    """Steps that wait for copies that compiled programs make between device and host memory.

    Arguments and results of programs are input and output, which have their own findings.
    """
    share = evidence.share(Phase.HOST_TRANSFER)
    grade = graded(share, *WAITING)
    if grade is None:
        return
    gain = evidence.gain_of(share, Phase.HOST_TRANSFER)
    ops = evidence.tpu_ops
    is_tpu = evidence.platform == "TPU"
    trace = TRACE.marking("category:copies", evidence.worst_step_in(Phase.HOST_TRANSFER))
    # Copies of a GPU have the same names whatever makes them; those of programs are instructions.
    instructions = HLO_STATS.showing(bound_by=f"={HOST_LINK}")
    copies, exchanges = _op_names(ops)
    names_of_ops = copies + exchanges

    room = free_memory_sentence(evidence)
    yield Finding(
        id="host_transfers",
        **grade,
        title=(
            f"{percent(share)} of step time goes to "
            + (
                "transfers between devices and the host"
                if exchanges
                else "copies between device and host memory"
            )
        ),
        detail=(
            f"{_subject(copies, exchanges)} that do not overlap with computation take "
            f"{milliseconds(evidence.means.mean_ms(Phase.HOST_TRANSFER))} per "
            f"step.{_directions(ops) if ops is not None else ''}{room if copies else ''}"
        ),
        gain=gain,
        action=_KEEP if copies or not exchanges else _EXCHANGE_LESS,
        next_page=trace if is_tpu else PROGRAMS,
        evidence=showing_ops(names_of_ops) if names_of_ops else trace if is_tpu else instructions,
        guide=OFFLOADING_GUIDE,
    )


_KEEP = (
    "Keep data on the device where it fits, or recompute it when it is needed (jax.checkpoint) "
    "instead of offloading it. Copy the rest in a few large transfers, early enough to overlap "
    "with computation."
)
_EXCHANGE_LESS = (
    "Find out which part of the program exchanges data with the host. Exchange it only every few "
    "steps, in a few large transfers, early enough to overlap with computation."
)


def _op_names(ops: TpuOps | None) -> tuple[list[str], list[str]]:
    """The names of ops that copy to or from host memory, and of those that exchange data."""
    if ops is None:
        return [], []
    kinds = (ops.is_host_copy, ops.peer == Peer.HOST)
    copies, exchanges = ([ops.op[row] for row in ops.longest(kind)] for kind in kinds)
    return copies, exchanges


def _subject(copies: list[str], exchanges: list[str]) -> str:
    """The transfers that take the time, as the subject of a sentence."""
    parts: list[str] = []
    if copies or not exchanges:
        parts.append("copies to and from host memory")
    if exchanges:
        parts.append(f"exchanges with the host ({grouped(exchanges)})")
    text = " and ".join(parts)
    return f"{text[0].upper()}{text[1:]}"


def _directions(ops: TpuOps) -> str:
    """A sentence on the share of op time in copies, by direction; "" if there are none."""
    total_ps = float(ops.self_ps.sum())
    to_host = np.array([IN_HOST in text.split("}")[0] for text in ops.result], bool)
    parts: list[str] = []
    for name, rows in (
        ("copies from the host", np.flatnonzero(ops.is_host_copy & ~to_host)),
        ("copies to the host", np.flatnonzero(ops.is_host_copy & to_host)),
    ):
        time = float(ops.self_ps[rows].sum())
        if time <= 0:
            continue
        notable = rows[100 * ops.self_ps[rows] >= NOTABLE * total_ps]
        worst = notable[np.argsort(-ops.self_ps[notable], kind="stable")]
        op_names = grouped([ops.name[row] for row in worst.tolist()])
        goes = "" if parts else " goes"
        of_these = f" ({op_names})" if op_names else ""
        parts.append(f"{percent(100 * time / total_ps)}{goes} to {name}{of_these}")
    return f" Of the cores' op time, {' and '.join(parts)}." if parts else ""


COPY_RULES: tuple[Rule, ...] = (device_to_device, host_transfers)
