"""Known mistakes of the memory profile."""

from typing import Any

from helpers.payloads import document_of
from jobs.pages import Pages
from traces.memory.allocators import GPU, Tensor, memory_trace
from traces.memory.misread_memory import address_used_again, lines_with_starts

from mistakes.catalogue import Show, mistake

MEMORY = "memory"
TOOL = "memory_profile"


def summary(pages: Pages, owner: str = GPU) -> dict[str, Any]:
    """What scripts read of an allocator."""
    found: dict[str, Any] = pages.document(TOOL)["memoryProfilePerAllocator"][owner]
    return found


def page(pages: Pages) -> dict[str, Any]:
    """What the page shows."""
    found: dict[str, Any] = document_of(pages.engine, pages.run, TOOL, layout="columns")
    return found


def released(pages: Pages) -> list[dict[str, Any]]:
    """What was released, in order."""
    kinds = [event["activityMetadata"] for event in summary(pages)["sampledTimelineSnapshots"]]
    return [kind for kind in kinds if kind["memoryActivity"] == "DEALLOCATION"]


@mistake(MEMORY, "The lifetime peak is the value of the last event in the file.")
def peak_of_the_lifetime(show: Show) -> str:
    trace = memory_trace("main |a.A.b", a=Tensor(600), b=Tensor(100), lifetime={"b": 100})
    found = summary(show(trace))["profileSummary"]
    assert found["peakBytesUsageLifetime"] == "600"
    return "600 bytes, the largest value of any event"


@mistake(
    MEMORY, "On TPUs, that peak excludes the stack, and is less than the peak of the recording."
)
def peak_with_the_stack(show: Show) -> str:
    trace = memory_trace("main |a.b", a=Tensor(300, owner=0), b=Tensor(100, owner=0), stack=200)
    found = summary(show(trace), "0")["profileSummary"]
    lifetime = int(found["peakBytesUsageLifetime"])
    peak = int(found["peakStats"]["peakBytesInUse"])
    assert lifetime >= peak == 600
    return f"{lifetime} bytes, 200 of them stack"


@mistake(MEMORY, "Only the allocations among 1,000 points are counted.")
def every_allocation_counts(show: Show) -> str:
    found = summary(show(memory_trace(f"main |{'aA' * 600}", a=Tensor(100))))["profileSummary"]
    assert (found["numAllocations"], found["numDeallocations"]) == ("600", "600")
    return "600 allocations and 600 deallocations"


@mistake(MEMORY, "Allocations of earlier steps are called 'unused preallocated device memory'.")
def tensors_of_earlier_steps(show: Show) -> str:
    trace = memory_trace(
        "main  |w.a.\nsteps |0.1.", w=Tensor(300, "weights", "persist"), a=Tensor(50, "act")
    )
    shown = page(show(trace))
    columns, texts = shown["breakdown"]["rows"], shown["texts"]
    found = {texts[op]: size for op, size in zip(columns["op"], columns["allocated_bytes"],
                                                 strict=True)}  # fmt: skip
    assert found == {"weights": 300, "act": 50}
    return "weights 300 bytes, act 50"


@mistake(MEMORY, "An address that is used again keeps its previous op.")
def addresses_that_are_used_again(show: Show) -> str:
    assert [one["tfOpName"] for one in released(show(address_used_again()))] == ["second"]
    return "`second` is the op of its release"


@mistake(MEMORY, "Times ignore the start of a line.")
def lines_that_start_later(show: Show) -> str:
    shown = summary(show(lines_with_starts()))
    found = [event["timeOffsetPs"] for event in shown["sampledTimelineSnapshots"]]
    assert found == ["1000000", "5000000"]
    return "1 and 5 µs"


@mistake(MEMORY, "Small rows are hidden, and a row has the size of a single allocation.")
def rows_of_the_breakdown(show: Show) -> str:
    tensor = Tensor(100, "op", "temp", requested=90)
    rows = page(show(memory_trace("main |a.b", a=tensor, b=tensor)))["breakdown"]["rows"]
    assert (rows["allocated_bytes"], rows["requested_bytes"]) == ([200], [180])
    assert rows["occurrences"] == [2]
    return "one row of 200 bytes for 2 allocations of 100"


@mistake(MEMORY, "One host at a time; rows of TPUs have no ops.")
def several_hosts(show: Show) -> str:
    trace = memory_trace("main |a", a=Tensor(100))
    found = show(trace, trace).document(TOOL)
    assert (found["numHosts"], len(found["memoryIds"])) == (2, 2)
    return "2 hosts; the page says that recorders do not name the ops of TPUs"
