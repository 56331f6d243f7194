"""The pages that findings link to."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

from tbprof.base.records import dataclass


@dataclass(frozen=True, slots=True)
class Page:
    """A page: a tool, and address parameters that show a part of it."""

    tool: str
    query: str = ""

    def showing(self, **filters: str) -> Page:
        """The page with its table filtered: `f.<column>=<text>`."""
        return Page(self.tool, urlencode({f"f.{name}": text for name, text in filters.items()}))

    def choosing(self, **choices: str | int) -> Page:
        """The page with a selection, as in its address."""
        return Page(self.tool, urlencode(choices))

    def marking(self, events: str = "", place: Mapping[str, str] | None = None) -> Page:
        """The trace viewer, with the results of a search for `events` marked.

        Text between slashes is a regular expression. `place` is the view that it opens, as returned
        by `worst_row`.
        """
        is_regex = len(events) > 2 and events.startswith("/") and events.endswith("/")
        search = {"q": events[1:-1], "regex": "1"} if is_regex else {"q": events} if events else {}
        return Page(self.tool, urlencode({**search, **(place or {})}))


NO_PAGE = Page("")
OVERVIEW = Page("overview_page")
INPUT_PIPELINE = Page("input_pipeline_analyzer")
TF_DATA = Page("tf_data_bottleneck_analysis")
OPS = Page("framework_op_stats")
KERNELS = Page("kernel_stats")
HLO_STATS = Page("hlo_stats")
PROGRAMS = Page("op_profile")
MEMORY = Page("memory_profile")
TRACE = Page("trace_viewer")
POD = Page("pod_viewer")
