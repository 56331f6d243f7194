"""Known mistakes of the tf.data bottleneck analysis."""

from typing import Any

from helpers.payloads import Row, rows
from jobs.pages import Pages
from traces import Unsigned, draw
from traces.misread_pipelines import DRAWN, overlapping_children, stages, through_a_function

from mistakes.catalogue import Show, mistake

TF_DATA = "tf.data"
TOOL = "tf_data_bottleneck_analysis"
GRAPH, SUMMARY, BOTTLENECKS = range(3)


def table(pages: Pages, number: int) -> list[Row]:
    """A table of the page."""
    return rows(pages.document(TOOL)[number])


@mistake(TF_DATA, "Ids from 2^63 on are read as 0, so iterators are merged.")
def large_ids(show: Show) -> str:
    large = [2**63 + 1, 2**63 + 2, 2**63 + 3, 2**64 - 1]
    stats: dict[str, Any] = {
        letter: {"id": Unsigned(one), "parent_id": Unsigned(above)}
        for letter, one, above in zip("rbst", large, [0, *large], strict=False)
    }
    pages = show(stages(*DRAWN, **stats))
    assert {row["name"] for row in table(pages, GRAPH)} == {str(one) for one in large}
    bottleneck = table(pages, BOTTLENECKS)[0]["bottleneck"]
    assert bottleneck == "Map"
    return "4 iterators, of which Map is the slowest"


@mistake(TF_DATA, "Names in current TensorFlow (`ParallelMapV2`, `Shuffle`) have no advice.")
def stages_with_versions(show: Show) -> str:
    found = {}
    for name in ("BatchV2", "ParallelInterleaveV4", "Shuffle", "Zip"):
        trace = stages("r" * 200, "." + "b" * 190, names={"b": f"Iterator::Root::{name}"})
        found[name] = table(show(trace), BOTTLENECKS)[0]["suggestion"]
    assert len(set(found.values())) == 4
    assert ".shuffle(" in found["Shuffle"]
    return "specific advice for each of 4 stages"


@mistake(
    TF_DATA,
    "If only device pipelines were recorded, it lists them but reports 'no tf.data activity'.",
)
def device_pipelines(show: Show) -> str:
    trace = draw(
        {"/host:CPU": f"python |{'r' * 300}.{'R' * 250}"},
        names={"r": "Iterator::Prefetch::Generator", "R": "Iterator::Prefetch::Generator"},
        stats={"r": {"id": 1}, "R": {"id": 1}},
    )
    document = show(trace).document(TOOL)
    text = document[BOTTLENECKS]["p"]["summary_message"]
    assert "No tf.data activity" not in text
    return f"says how long calls took, and of which pipeline: {len(rows(document[SUMMARY]))} row"


@mistake(TF_DATA, "Iterators that a function calls are lost.")
def iterators_that_a_function_calls(show: Show) -> str:
    pages = show(through_a_function())
    found = {row["name"]: row["self_us"] for row in table(pages, GRAPH)}
    assert found == {"1": 10, "2": 20, "3": 170}
    assert table(pages, BOTTLENECKS)[0]["bottleneck"] == "Map"
    return "root 10 µs, batch 20, map 170"


@mistake(TF_DATA, "Overlapping children are subtracted twice, which makes times negative.")
def children_that_overlap(show: Show) -> str:
    pages = show(overlapping_children())
    found = {row["name"]: row["self_us"] for row in table(pages, GRAPH)}
    assert found == {"1": 10, "2": 90, "3": 90}
    return "root 10 of 100 µs, its two children 90 each"


@mistake(TF_DATA, "Pipelines are numbered in hash table order, which differs from run to run.")
def numbers_of_pipelines(show: Show) -> str:
    names = dict.fromkeys("xyz", "Iterator::Root")
    stats = {"x": {"id": 77}, "y": {"id": 5}, "z": {"id": 1234}}
    trace = stages("x" * 10 + "." * 5 + "y" * 20 + "." * 5 + "z" * 30, names=names, **stats)
    found = {row["input_pipeline"]: row["max"] for row in table(show(trace), SUMMARY)}
    assert found == {"Host:0": 10, "Host:1": 20, "Host:2": 30}
    return "Host:0, Host:1, Host:2 in the order of their first calls"


@mistake(TF_DATA, "The latest release lacks the tool that the guide promises.")
def the_tool_is_there(show: Show) -> str:
    pages = show(stages(*DRAWN))
    assert TOOL in pages.engine.run_tools(pages.run)
    assert len(table(pages, GRAPH)) == 6
    return "6 calls in the graph"
