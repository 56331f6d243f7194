"""Parses the full name of an op into its category, name and type.

Source: xla/tsl/profiler/utils/tf_op_utils.h, ParseTfOpFullname, and what recorders write.
"""

from __future__ import annotations

import functools
import re
from enum import IntEnum

from tbprof.base.lazy import regex
from tbprof.base.records import NamedTuple

# Part of the names of ops that jax.checkpoint recomputes in the backward pass.
# Source: JAX, ad_checkpoint.py.
RECOMPUTED = "rematted_computation"
_TF_NAME = regex(r"[A-Za-z0-9.][A-Za-z0-9_.\/>-]*")
_TF_TYPE = regex(r"[A-Z_][a-zA-Z0-9_]*")
_JAX_TYPE = regex(r"[a-z_][a-z0-9_]*(\[.*\])?")
_SUFFIX = regex(r"_\d+\Z")
# The text that may follow the last colon of a name that contains other colons.
_ANY_TYPE = regex(r"(?:[a-zA-Z_][a-zA-Z0-9_]*(?:\[.*\])?)?")
# Full names of copies, and their spelling in device events (both observed).
_HOST_COPY = regex(r"memcpy([hd]to[hd])", re.IGNORECASE)
_DEVICE_COPY = regex(r"memcpy([hdp])(?:2|to)([hdp])", re.IGNORECASE)
DATASET = "Dataset"
# All parts parse the same names; results for this many are cached.
NAMES_AT_ONCE = 1 << 14
IDLE = "IDLE"
# The opcodes of instructions whose computations run as instructions of their own.
CONTROL = frozenset({"call", "conditional", "while"})
UNKNOWN_TYPE = "Unknown"


class OpCategory(IntEnum):
    """The framework that an op belongs to."""

    UNKNOWN = 0
    TENSORFLOW = 1
    JAX = 2
    TF_DATA = 3
    COPY = 4


class OpName(NamedTuple):
    """A parsed full name; `type` is "" where it is unknown."""

    category: OpCategory
    name: str
    type: str


@functools.lru_cache(maxsize=NAMES_AT_ONCE)
def copy_type(event_name: str) -> str:
    """The type of a device event without an op: "MemcpyHToD" for "MemcpyH2D", "Memset", or ""."""
    copy = _DEVICE_COPY.match(event_name)
    if copy:
        return f"Memcpy{copy[1].upper()}To{copy[2].upper()}"
    return "Memset" if event_name.lower().startswith("memset") else ""


@functools.lru_cache(maxsize=NAMES_AT_ONCE)
def parse_op_name(full: str) -> OpName:
    """The parts of `name:Type`, `name:` or a bare name.

    "a/MatMul_1:MatMul"              TENSORFLOW, "a/MatMul_1", "MatMul"
    "jit(f)/jit(main)/reduce_sum:"   JAX, "jit(f)/jit(main)/reduce_sum", "reduce_sum"
    "Iterator::Root::Prefetch"       TF_DATA, whole text, "Dataset"
    "MEMCPYHtoD"                     COPY, whole text, "MemcpyHToD"
    """
    name, colon, type_ = full.partition(":")
    if not colon:
        copy = _HOST_COPY.match(full)
        if copy:
            return OpName(OpCategory.COPY, full, copy_type(full))
        return OpName(OpCategory.UNKNOWN, full, "")
    if name == "Iterator":
        return OpName(OpCategory.TF_DATA, full, DATASET)
    is_tf_name = _TF_NAME.fullmatch(name) is not None
    if is_tf_name and _TF_TYPE.fullmatch(type_):
        return OpName(OpCategory.TENSORFLOW, name, type_)
    derived = type_ or _SUFFIX.sub("", name.rpartition("/")[2])
    if _JAX_TYPE.fullmatch(derived):
        return OpName(OpCategory.JAX, name, derived.partition("[")[0])
    if not type_:
        return OpName(OpCategory.TENSORFLOW, name, derived)
    return OpName(OpCategory.UNKNOWN, full, "")


@functools.lru_cache(maxsize=NAMES_AT_ONCE)
def parse_provenance(full: str) -> OpName:
    """The op that device code came from, by its `tf_op` stat or its HLO metadata.

    Unlike a host event's name, such a text always names an op: it need not end in a colon, and may
    contain several.

        "jit(f)/jit(main)/dot_general"        JAX, whole text, "dot_general"
        "a/b:c/MatMul:MatMul"                 TENSORFLOW, "a/b:c/MatMul", "MatMul"
        "jit(f)/pjit[jaxpr={ a:f32 } n=x/y]"  JAX, whole text, "pjit"
    """
    op = parse_op_name(full)
    if not full or (op.category != OpCategory.UNKNOWN and _is_balanced(op.name)):
        return op
    name, colon, type_ = full.rpartition(":")
    is_end = _ANY_TYPE.fullmatch(type_) is not None and _is_balanced(name)
    if not colon or name.endswith(":") or not is_end:
        name, type_ = full, ""
    # Parameters in brackets may contain slashes.
    derived = type_ or _SUFFIX.sub("", name.partition("[")[0].rpartition("/")[2])
    if not derived:
        return OpName(OpCategory.UNKNOWN, full, "")
    is_jax = _JAX_TYPE.fullmatch(derived) is not None
    kind = derived.partition("[")[0]
    return OpName(OpCategory.JAX if is_jax else OpCategory.TENSORFLOW, name, kind)


def _is_balanced(name: str) -> bool:
    """Whether all brackets of a name are closed: a colon among parameters does not end a name."""
    return name.count("[") == name.count("]")


def instruction_of(path: str) -> str:
    """The innermost instruction of an `hlo_op` path: "fusion.1" of "while.3::body::fusion.1"."""
    return path.rpartition("::")[2]
