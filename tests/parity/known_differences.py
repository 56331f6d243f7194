"""Where tables of ops differ from xprof's on purpose: where, what is right instead, and why."""

from collections.abc import Callable
from dataclasses import dataclass

from helpers.payloads import Row

CASES = ("gpu", "gpu_tf_op", "gpu_two_hosts", "tpu", "tpu_two_hosts", "tensorflow_cpu", "jax_cpu")
GPUS = ("gpu", "gpu_tf_op", "gpu_two_hosts")
NEW_GPUS = ("gpu_tf_op", "gpu_two_hosts")
TPUS = ("tpu", "tpu_two_hosts")
WITH_IDLE, WITHOUT_IDLE = "with idle", "without idle"
BOTH = (WITH_IDLE, WITHOUT_IDLE)


@dataclass(frozen=True)
class Differs:
    """Cells that differ: `holds` of (their row, our row) tells them, and what ours must be."""

    cases: tuple[str, ...]
    tables: tuple[str, ...]
    columns: tuple[str, ...]
    holds: Callable[[Row, Row], bool]
    why: str


def _is_idle(row: Row) -> bool:
    return bool(row["type"] == "IDLE")


def _close(a: float, b: float) -> bool:
    return abs(a - b) <= 1e-9 * max(1.0, abs(a), abs(b))


def _unmeasured(*columns: str) -> Callable[[Row, Row], bool]:
    return lambda theirs, ours: all(theirs[name] == 0 and ours[name] is None for name in columns)


def _share(side: str) -> Callable[[Row, Row], bool]:
    def holds(theirs: Row, ours: Row) -> bool:
        share = ours[f"{side}_total_self_time_percent"]
        return _close(share * ours["_whole"], ours["total_self_time"]) and _close(
            theirs["total_self_time"], ours["total_self_time"] if not _is_idle(ours) else theirs[
                "total_self_time"]
        )  # fmt: skip

    return holds


def _fewer_executions(theirs: Row, ours: Row) -> bool:
    """MemoryAllocation events carry `tf_op` and count as executions in xprof."""
    return (
        ours["host_or_device"] == "Host"
        and 0 < ours["occurrences"] < theirs["occurrences"]
        and _close(ours["avg_time"] * ours["occurrences"], theirs["total_time"])
        and _close(ours["avg_self_time"] * ours["occurrences"], theirs["total_self_time"])
    )


def _more_executions(theirs: Row, ours: Row) -> bool:
    """An op that compiles to several instructions has the executions of all of them."""
    return (
        ours["host_or_device"] == "Device"
        and ours["occurrences"] > theirs["occurrences"]
        and _close(ours["avg_time"] * ours["occurrences"], theirs["total_time"])
    )


def _idle(side: str) -> Callable[[Row, Row], bool]:
    return lambda theirs, ours: _is_idle(ours) and ours["host_or_device"] == side


_RATES = ("measured_flop_rate", "model_flop_rate", "measured_memory_bw", "operational_intensity")
_COUNTED = ("occurrences", "avg_time", "avg_self_time")
_HOST_SHARES = ("host_total_self_time_percent", "Host_cumulative_total_self_time_percent")
_DEVICE_SHARES = (
    "device_total_self_time_percent",
    "device_cumulative_total_self_time_percent",
)
HOSTS_WITH_OPS = (*GPUS, "tensorflow_cpu")

DIFFERENCES = (
    *(
        Differs(cases, BOTH, (name,), _unmeasured(name), "not measured is null, not 0")
        for name in _RATES
        for cases in ((*GPUS, "tensorflow_cpu"),)
    ),
    *(
        Differs(CASES, (WITH_IDLE,), (name,), _unmeasured(name), "idle never ran: no average")
        for name in ("avg_time", "avg_self_time")
    ),
    *(
        Differs((*TPUS, "jax_cpu"), (WITH_IDLE,), (name,), _unmeasured(name), "idle does no work")
        for name in _RATES
    ),
    Differs(
        ("gpu",),
        (WITH_IDLE,),
        ("gpu_tensorcore_utilization",),
        _unmeasured("gpu_tensorcore_utilization"),
        "idle has no utilization",
    ),
    Differs(
        NEW_GPUS,
        BOTH,
        ("gpu_tensorcore_utilization",),
        _unmeasured("gpu_tensorcore_utilization"),
        "nor have copies, which launch no kernel",
    ),
    Differs(
        (*GPUS, "tensorflow_cpu"),
        BOTH,
        _COUNTED,
        _fewer_executions,
        "allocating memory is not an execution of the op",
    ),
    Differs(
        TPUS,
        BOTH,
        _COUNTED,
        _more_executions,
        "occurrences are the sum over a framework op's instructions, not the largest",
    ),
    Differs(
        TPUS,
        BOTH,
        ("type",),
        lambda theirs, ours: (
            theirs["type"] == "Unknown" and ours["operation"].startswith(ours["type"])
        ),
        "what no op of the framework stands behind has its HLO category as type",
    ),
    Differs(
        TPUS,
        BOTH,
        (
            "measured_flop_rate",
            "model_flop_rate",
            "measured_memory_bw",
            "operational_intensity",
            "bound_by",
        ),
        lambda theirs, ours: theirs["type"] == "Unknown" and ours["operation"].startswith("copy-"),
        "a transfer does its work once, from its start to its end",
    ),
    Differs(
        (*GPUS, "tensorflow_cpu", "jax_cpu"),
        (WITH_IDLE,),
        ("total_time", "total_self_time"),
        _idle("Host"),
        "host idle is wall time that no thread covers, not the sum over threads",
    ),
    Differs(
        GPUS,
        (WITH_IDLE,),
        ("total_time", "total_self_time"),
        _idle("Device"),
        "device idle is what no stream covers: streams overlap, and ops under `level 0` count",
    ),
    Differs(
        (*HOSTS_WITH_OPS, "jax_cpu"),
        (WITH_IDLE,),
        _HOST_SHARES,
        _share("host"),
        "shares follow the idle time",
    ),
    Differs(GPUS, (WITH_IDLE,), _DEVICE_SHARES, _share("device"), "shares follow the idle time"),
    Differs(
        NEW_GPUS,
        (WITHOUT_IDLE,),
        _DEVICE_SHARES,
        _share("device"),
        "copies and kernels without an op count as device time",
    ),
    Differs(
        NEW_GPUS,
        BOTH,
        ("type",),
        lambda theirs, ours: theirs["type"] == "Unknown" and ours["type"] == ours["operation"],
        "an op's bare name, without a colon, is its type",
    ),
    Differs(
        (*GPUS, "tensorflow_cpu", "jax_cpu"),
        (WITH_IDLE,),
        ("rank",),
        lambda _theirs, _ours: True,
        "rows that xprof lacks, and idle, move the others (their order is compared by itself)",
    ),
    Differs(
        GPUS,
        (WITHOUT_IDLE,),
        ("rank",),
        lambda _theirs, _ours: True,
        "rows that xprof lacks move the others",
    ),
)


@dataclass(frozen=True)
class Lacks:
    """Rows that one of the two lacks."""

    cases: tuple[str, ...]
    holds: Callable[[Row], bool]
    why: str


ONLY_IN_XPROF = (
    Lacks(
        TPUS,
        lambda row: row["host_or_device"] == "Host",
        "xprof's only host op is one that a memory event names, and idle of no op",
    ),
)


def _in_table(side: str) -> Callable[[Row], bool]:
    return lambda row: row["host_or_device"] == side


ONLY_HERE = (
    Lacks(("gpu",), _in_table("Device"), "xprof reads no op from the stat `level 0`"),
    Lacks(
        NEW_GPUS,
        lambda row: row["host_or_device"] == "Device" and row["operation"].startswith("Memcpy"),
        "device time that no op claims stands under its own name",
    ),
    Lacks(GPUS, lambda row: row["_is_over_cap"], "xprof shows the first 500 rows of a side"),
    Lacks(("jax_cpu",), _in_table("Host"), "XLA instructions that ran on the CPU are host ops"),
)
