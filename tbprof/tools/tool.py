"""What a tool is."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tbprof.analysis.devices import Devices
from tbprof.analysis.kernels import Kernels
from tbprof.analysis.op_metrics import OpMetrics
from tbprof.tools.datatable import Table

Part = Devices | Kernels | OpMetrics


@dataclass(frozen=True, slots=True)
class Summaries:
    """The parts that a tool asked for, each with one entry per chosen host, in host order."""

    hosts: tuple[str, ...]
    parts: Mapping[str, Sequence[Part]]
    params: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Tool:
    """One page: `build` makes its tables of summaries alone.

    `planes` are name prefixes one of which the trace must have a plane of, `absent` the reason
    that is shown where it has none, and `empty` where those planes hold nothing for the tool, each
    with a hint at the way out. `params` are the parameters of a request that `build` heeds.
    `is_list` says that the payload is a list of tables.
    """

    name: str
    label: str
    parts: tuple[str, ...]
    build: Callable[[Summaries], Sequence[Table]]
    aliases: tuple[str, ...] = ()
    planes: tuple[str, ...] = ("",)
    absent: str = ""
    absent_hint: str = ""
    empty: str = ""
    empty_hint: str = ""
    params: tuple[str, ...] = ()
    is_list: bool = False
