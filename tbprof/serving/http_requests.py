"""Parses the URL of a request. All input is untrusted."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Literal

from werkzeug.datastructures import MultiDict

from tbprof.base.errors import BadRequest
from tbprof.base.records import dataclass
from tbprof.base.texts import whole_number

ALL_HOSTS = "ALL_HOSTS"
# Names of runs are paths below the logdir, lists of hosts may name a whole pod.
_LIMITS = {"run": 4096, "hosts": 65536, "q": 4096, "name": 4096, "rows": 16384, "tracks": 16384,
           "sections": 16384, "counters": 16384, "kernel": 16384, "op": 16384, "opened": 16384,
           "node_name": 4096}  # fmt: skip
_LIMIT = 1024
_OWN = frozenset({"run", "tag", "host", "hosts", "tqx", "table", "layout", "first_row"})


@dataclass(frozen=True, slots=True)
class Parameters:
    """The parameters of one request. Every method raises BadRequest."""

    values: MultiDict[str, str]
    # The `Host` header.
    host: str = ""

    def check(self) -> None:
        """Rejects values that are not valid for any parameter."""
        for name, value in self.values.items(multi=True):
            limit = _LIMITS.get(name, _LIMIT)
            if len(value) > limit or len(name) > _LIMIT:
                raise BadRequest(
                    f"parameter {name[:40]!r} is {len(value):,} characters long",
                    f"at most {limit:,} are accepted",
                )
            if "\0" in value or "\0" in name:
                raise BadRequest(f"parameter {name[:40]!r} contains a NUL character")

    def required(self, name: str) -> str:
        """The value, not empty."""
        value = self.values.get(name, "")
        if not value:
            raise BadRequest(
                f"parameter {name!r} is missing", "see the list of routes in docs/http_api.md"
            )
        return value

    def tag(self) -> str:
        """The tool's name; older releases appended `^` or `#`."""
        return self.required("tag").rstrip("^#")

    def hosts(self, known: Callable[[], Collection[str]]) -> tuple[str, ...]:
        """The chosen hosts, each once, in the order given; empty means every host.

        The `known` hosts distinguish a name with commas from a list of names.
        """
        chosen = self.values.getlist("host")
        for value in self.values.getlist("hosts"):
            is_one = "," not in value or value in known()
            chosen.extend([value] if is_one else value.split(","))
        chosen = [host for host in dict.fromkeys(chosen) if host]
        return () if ALL_HOSTS in chosen else tuple(chosen)

    def wants_csv(self) -> bool:
        """Whether `tqx` asks for CSV. Source: Google Visualization wire protocol 0.6, `tqx`."""
        for option in self.values.get("tqx", "").split(";"):
            name, _, value = option.partition(":")
            if name == "out" and value not in ("", "json", "csv"):
                raise BadRequest(f"tqx=out:{value} is not supported", "use out:json or out:csv")
            if name == "out" and value == "csv":
                return True
        return False

    def table(self) -> int:
        """The index of the table that CSV shows, 0 if not given."""
        text = self.values.get("table", "") or "0"
        index = whole_number(text, 4)
        if index is None:
            raise BadRequest(f"table={text!r} is not an index", "the first table is table=0")
        return index

    def first_row(self) -> int | None:
        """The first row of a batch, None without batches."""
        text = self.values.get("first_row", "")
        if not text:
            return None
        row = whole_number(text, 9)
        if row is None:
            raise BadRequest(
                f"first_row={text[:40]!r} is not a row", "the first one is first_row=0"
            )
        return row

    def layout(self) -> Literal["rows", "columns"]:
        """How the JSON lays tables out."""
        layout = self.values.get("layout", "") or "rows"
        if layout == "rows":
            return "rows"
        if layout == "columns":
            return "columns"
        raise BadRequest(f"layout={layout!r} is unknown", "use layout=rows or layout=columns")

    def others(self) -> dict[str, str]:
        """The other parameters, for the tool."""
        return {name: value for name, value in self.values.items() if name not in _OWN}
