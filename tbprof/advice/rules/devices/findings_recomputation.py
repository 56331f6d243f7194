"""The finding about results that compiled programs compute a second time to save memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tbprof.advice.evidence import Evidence, Rule
from tbprof.advice.finding import Finding, graded
from tbprof.advice.guides import CHECKPOINT_GUIDE
from tbprof.advice.pages import OPS
from tbprof.advice.rules.devices.findings_memory import free_memory_sentence
from tbprof.advice.rules.devices.findings_tpu import grouped, showing_ops
from tbprof.advice.sentences import percent
from tbprof.analysis.vocabulary.op_names import RECOMPUTED

# Percentages of the time of all ops on devices; ours.
SHARE = (5.0, 20.0)
# Part of the names of instructions that XLA added to recompute results rather than keep them.
# Source: OpenXLA, hlo_rematerialization.cc.
_SUFFIX = ".remat"


def recomputation(evidence: Evidence) -> Iterator[Finding]:
    """Device time that is spent on recomputing results."""
    names, own_ps, by_compiler, by_program = _recomputed(evidence)
    total_ps = float(own_ps.sum())
    is_again = by_compiler | by_program
    share = 100 * float(own_ps[is_again].sum()) / total_ps if total_ps > 0 else 0.0
    grade = graded(share, *SHARE)
    if grade is None:
        return
    rows = np.flatnonzero(is_again & (own_ps > 0))
    longest = rows[np.argsort(-own_ps[rows], kind="stable")].tolist()
    ops = [names[row] for row in longest]
    is_asked_for = bool(by_program[longest].any())
    yield Finding(
        id="recomputation",
        **grade,
        title=f"{percent(share)} of device op time recomputes results that were not kept",
        detail=(
            f"{_reason(is_asked_for, bool(by_compiler[longest].any()))}: {grouped(ops)}. This "
            f"saves memory but costs time.{free_memory_sentence(evidence)}"
        ),
        gain=evidence.gain_of_work(share / 100 * evidence.share(*evidence.work)),
        action=_KEEP_MORE if is_asked_for else _USE_LESS,
        next_page=OPS,
        evidence=showing_ops(ops),
        guide=CHECKPOINT_GUIDE,
    )


_KEEP_MORE = (
    "Where memory allows it, keep results that are costly to compute: use a policy such as "
    "jax.checkpoint_policies.dots_with_no_batch_dims_saveable, or put jax.checkpoint around fewer "
    "layers."
)
_USE_LESS = (
    "The compiler recomputes results if a program does not fit into memory. Use smaller batches or "
    "narrower types, shard more, or choose what is recomputed with jax.checkpoint."
)


def _recomputed(
    evidence: Evidence,
) -> tuple[list[str], np.ndarray, np.ndarray, np.ndarray]:
    """Names and own times of device ops; masks of those that compiler and program repeat."""
    ops = evidence.tpu_ops
    if ops is not None:
        names, own_ps = ops.op, ops.self_ps
        by_compiler = np.array([_SUFFIX in name for name in ops.name], np.bool_)
    else:
        names = evidence.ops.name
        own_ps = np.where(evidence.ops.is_device, evidence.ops.self_ps, 0)
        by_compiler = np.zeros(len(names), np.bool_)
    by_program = np.array([RECOMPUTED in name for name in names], np.bool_)
    return names, own_ps, by_compiler & ~by_program, by_program


def _reason(is_asked_for: bool, is_compiled: bool) -> str:
    origins = (
        ("the program requests it (jax.checkpoint)", is_asked_for),
        ("the compiler chose it (rematerialization)", is_compiled),
    )
    parts = [text for text, applies in origins if applies]
    text = ", and ".join(parts)
    return f"{text[0].upper()}{text[1:]}"


RECOMPUTATION_RULES: tuple[Rule, ...] = (recomputation,)
