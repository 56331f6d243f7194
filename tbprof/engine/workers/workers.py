"""What computes the parts of hosts outside of this process."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from tbprof.engine.kept_parts import PartResult
from tbprof.engine.parts import PartKey
from tbprof.storage.runs import TraceFile


class Workers(Protocol):
    """Other processes that compute parts. The parts of a file are a pure function of both.

    `SummaryCache` asks no two times for the same part at the same time.
    """

    @property
    def hosts_at_once(self) -> int:
        """For how many hosts `compute` should be called at the same time, from threads."""

    @property
    def keeps_results(self) -> bool:
        """Whether they write what they compute to the result store of this process."""

    def compute(
        self, file: TraceFile, requested: Sequence[PartKey], on_work: Callable[[str], None]
    ) -> Mapping[PartKey, PartResult]:
        """The requested parts; `on_work` is called with the name of each that is begun.

        Raises what reading the file raises, or why no worker could do it (TbprofError).
        """

    def decoded_ratio(self, file: TraceFile) -> float:
        """How much of the events of a file has been decoded, 0 to 1; 0 if it is not known."""
