"""What a tool is."""

from collections.abc import Callable, Sequence

from tbprof.advice.summaries import Summaries
from tbprof.analysis.run.outline import Content
from tbprof.base.lazy import named
from tbprof.base.records import dataclass
from tbprof.tools.datatable import Table


@dataclass(frozen=True, slots=True)
class Document:
    """A payload that is one JSON object, not tables.

    `rows` makes it as scripts read it, `columns` the same in columns, for our own page; NumPy
    arrays are allowed. `table` makes its content as a table, for CSV and Python. `is_empty` says
    that the trace holds nothing for the tool.
    """

    rows: Callable[[], dict[str, object]]
    columns: Callable[[], dict[str, object]]
    table: Callable[[], Table]
    is_empty: bool = False


@dataclass(frozen=True, slots=True)
class EventStream:
    """A payload that is the events of the traces themselves, which nobody holds as a whole.

    Those that overlap the time from `start_ms` to `end_ms`; None is the start or end of the trace.
    `has_derived` says that tracks which the files lack are wanted, too.
    """

    start_ms: float | None
    end_ms: float | None
    has_derived: bool = True


Payload = Sequence[Table] | Document | EventStream


@dataclass(frozen=True, slots=True)
class Tool:
    """One page. Its module has `PARTS`, the names of parts, and `build`.

    `label` is its name on pages and in messages, `short` the one on its tab.
    `planes` are name prefixes one of which the trace must have a plane of, `absent` the reason
    that is shown where it has none, and `empty` where those planes hold nothing for the tool, each
    with a hint at the way out. `content` is what its files have to hold, None for any events.
    `rests_on_steps` says that it has nothing where there are no steps and no event could mark them.
    `params` are the parameters of a request that `build` heeds. `is_list` says that the payload is
    a list of tables, `is_streamed` that it is an `EventStream`.
    """

    name: str
    label: str
    short: str
    aliases: tuple[str, ...] = ()
    planes: tuple[str, ...] = ("",)
    content: Content | None = None
    absent: str = ""
    absent_hint: str = ""
    empty: str = ""
    empty_hint: str = ""
    rests_on_steps: bool = False
    params: tuple[str, ...] = ()
    is_list: bool = False
    is_streamed: bool = False

    @property
    def module(self) -> str:
        """The module that makes its payload."""
        return f"tbprof.tools.{self.name}"

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts of each host that its payload is made of; its module is imported."""
        parts: tuple[str, ...] = named(f"{self.module}.PARTS")
        return parts

    def build(self, summaries: Summaries) -> Payload:
        """Its payload, made of summaries alone."""
        payload: Payload = named(f"{self.module}.build")(summaries)
        return payload
