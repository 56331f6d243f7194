"""The definition of a tool."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tbprof.advice.summaries import Summaries
from tbprof.analysis.run.outline import Content
from tbprof.base.lazy import object_named
from tbprof.base.records import dataclass
from tbprof.tools.model.datatable import Table


@dataclass(frozen=True, slots=True)
class Document:
    """A payload that is one JSON object, not tables.

    `rows` makes it for scripts, `columns` the same in columns for our own page; NumPy arrays are
    allowed. `table` makes its content as a table, for CSV and Python. `is_empty` means that the
    trace has no data for the tool.
    """

    rows: Callable[[], dict[str, object]]
    columns: Callable[[], dict[str, object]]
    table: Callable[[], Table]
    is_empty: bool = False


@dataclass(frozen=True, slots=True)
class EventStream:
    """A payload of the events of the traces themselves, which are never all in memory.

    Events that overlap the time from `start_ms` to `end_ms`; None is the start or end of the trace.
    `has_derived` means that derived tracks are included. `max_gb` is the largest allowed size, None
    for the default for traces of their size.
    """

    start_ms: float | None
    end_ms: float | None
    has_derived: bool = True
    max_gb: float | None = None


@dataclass(frozen=True, slots=True)
class Attachment:
    """A payload that is a file for scripts and downloads, such as a program's text."""

    content: bytes
    content_type: str
    filename: str


Payload = Sequence[Table] | Document | EventStream | Attachment


@dataclass(frozen=True, slots=True)
class Choice:
    """The host that a payload shows, and the parameters of the parts of that host alone."""

    host: str
    params: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Tool:
    """One page. Its module has `PARTS`, the names of parts, and `build`.

    `label` is its name on pages and in messages, `short` the one on its tab, `also` are names that
    users know it by. The trace must have a plane with one of the name prefixes `planes`; `absent`
    is the reason shown if it has none, and `empty` the reason if those planes have no data for the
    tool, each with a hint what to do. `content` is what its files must contain, None for any
    events. `rests_on_steps` means that it has no data without steps and events that could mark
    them. `params` are the request parameters that `build` uses, and `usual` the values of those
    that our own page requests at first. `is_in_batches` means that our own page requests the rows
    of its tables in batches. `is_detail` means that other pages lead to it, so its tab is among the
    first to be hidden if space is short. `is_list` means that the payload is a list
    of tables, `is_streamed` that it is an `EventStream`. `is_chosen` means that its module also has
    `CHOSEN_PARTS`, which only one host computes, and `choose`, which names that host. `is_sparing`
    means that it has `parts_for`, the `PARTS` that the payload for some parameters needs.
    """

    name: str
    label: str
    short: str
    also: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    planes: tuple[str, ...] = ("",)
    content: Content | None = None
    absent: str = "the trace has no planes"
    absent_hint: str = ""
    empty: str = ""
    empty_hint: str = ""
    rests_on_steps: bool = False
    params: tuple[str, ...] = ()
    usual: tuple[tuple[str, str], ...] = ()
    is_detail: bool = False
    is_list: bool = False
    is_in_batches: bool = False
    is_streamed: bool = False
    is_chosen: bool = False
    is_sparing: bool = False

    @property
    def module(self) -> str:
        """The module that makes its payload."""
        return f"tbprof.tools.{self.name}"

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts of each host that its payloads need; its module is imported."""
        parts: tuple[str, ...] = object_named(f"{self.module}.PARTS")
        return parts

    def parts_for(self, params: Mapping[str, str]) -> tuple[str, ...]:
        """The `parts` that its payload for these parameters needs."""
        if not self.is_sparing:
            return self.parts
        parts: tuple[str, ...] = object_named(f"{self.module}.parts_for")(params)
        return parts

    @property
    def chosen_parts(self) -> tuple[str, ...]:
        """The parts of the host that it chooses."""
        parts: tuple[str, ...] = (
            object_named(f"{self.module}.CHOSEN_PARTS") if self.is_chosen else ()
        )
        return parts

    def choose(self, summaries: Summaries) -> Choice | None:
        """The host whose `chosen_parts` its payload needs, None if no host has what it shows."""
        choice: Choice | None = object_named(f"{self.module}.choose")(summaries)
        return choice

    def build(self, summaries: Summaries) -> Payload:
        """Its payload, made from summaries only."""
        payload: Payload = object_named(f"{self.module}.build")(summaries)
        return payload
