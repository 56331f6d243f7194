"""Advice on stages that hold elements: shuffles, caches and prefetches."""

import pytest
from builders.tf_data_calls import ROOT, Made, Node, chain, made
from helpers.tf_data_advice import ALONE, advice_on, bound_by, said_in

from tbprof.advice.tf_data.tf_data_diagnosis import diagnose_pipelines
from tbprof.advice.tf_data.tf_data_pipelines import find_pipelines


def test_a_shuffle_that_fills_is_told_from_one_that_is_slow():
    findings = bound_by("Shuffle", taken=5000, last={"buffer_size": 5000},
                     root={"warm_start": "false"})  # fmt: skip
    assert "fills its buffer of 5,000 elements" in findings["shuffle_fill"].title
    assert "requested 5,000 elements to return 4" in findings["shuffle_fill"].detail
    assert "experimental_warm_start" in findings["warm_start"].code
    assert "shuffle" not in findings
    assert "warm_start" not in bound_by("Shuffle", taken=5000, root={"warm_start": "true"})
    steady = bound_by("Shuffle", taken=4)
    assert "shuffle_large_elements" in steady
    assert "shuffle_fill" not in steady


def test_a_cache_belongs_after_the_map():
    without = bound_by("BatchV2", "Map")
    assert "No stage caches" in without["cache_after_map"].detail
    below = bound_by("BatchV2", "Map", below="MemoryCacheImpl")
    assert below["cache_after_map"].title == "Cache after the map, not before it"
    assert "cache_after_map" not in bound_by("BatchV2", "MemoryCache", "Map")


def test_a_cache_is_written_or_read():
    assert "first epoch" in bound_by("Cache", taken=3)["cache_written"].detail
    read = bound_by("FileReader", below="")
    assert "local disk" in read["cache_read"].action
    assert "from memory" in bound_by("MemoryReader", below="")["cache_read"].detail


def test_pipelines_end_with_a_prefetch_of_some_size():
    assert bound_by("BatchV2")["prefetch_at_the_end"].severity == "high"
    assert bound_by("ParallelMapV2")["prefetch_at_the_end"].severity == "low"
    assert "prefetch_at_the_end" not in bound_by("MapAndBatchV2")  # works ahead by itself
    own = bound_by("Prefetch", "Map", root={})
    assert "prefetch_at_the_end" not in own
    assert "throughput" in own
    names = chain("Prefetch", "Map")
    nodes = [Node(names[0], 1000, 1), Node(names[1], 999, 1), Node(names[2], 998, 998)]
    small = advice_on(nodes, {names[1]: {"buffer_limit": 1, "autotune": "false"}})
    assert "keeps 1 element" in small["prefetch_buffer"].detail
    injected = {"name": "inject/prefetch_BatchDatasetV2/_9", "buffer_limit": 2}
    findings = advice_on(nodes, {names[1]: injected})
    assert not {"prefetch_at_the_end", "prefetch_buffer"} & findings.keys()


def test_a_prefetch_that_waits_for_a_processor():
    findings = bound_by("Prefetch", own=990, worker=1, wait=990)
    assert findings["prefetch_empty"].title == "Prefetch waits while little is produced for it"
    findings = bound_by("Prefetch", own=520, worker=1, wait=520)
    assert findings["prefetch_empty"].title == "Prefetch had nothing ready"
    findings = bound_by("Prefetch", below="", own=800, wait=800)
    assert "No calls to the stages" in findings["prefetch_empty"].detail


def test_a_prefetch_that_had_an_element_ready_is_not_said_to_have_none():
    found = bound_by("Prefetch", own=900, worker=1, wait=400)["prefetch_empty"]
    assert found.title == "Prefetch had an element ready"
    assert "continued for 500 µs after they received an element" in found.detail
    assert "Look at the stages below" not in found.action
    assert bound_by("Prefetch", own=900, wait=500)["prefetch_empty"].title != found.title


def test_memory_is_told_where_it_is_short():
    root = {"ram_usage_megabytes": "9000 out of 10000 (90.00%)"}
    last = {"buffered_bytes_MB": 700}
    found = bound_by("Shuffle", last=last, root=root)["memory"]
    assert found.title == "The memory of the host is 90.0 % full"
    assert "Buffers of the pipeline hold Shuffle 700 MB" in found.detail
    assert "ram_budget" in found.code
    for told in ("900 out of 10000", "much", "1 out of 0"):
        assert "memory" not in bound_by("Shuffle", root={"ram_usage_megabytes": told})
    # Where nothing else is wrong, too.
    fine = [Node(ROOT, 20, 20)]
    assert list(advice_on(fine, {ROOT: root})) == ["fine", "memory"]


@pytest.mark.parametrize(
    ("pause", "first"), [(500, "map_sequential"), (1500, "prefetch_at_the_end")]
)
def test_calls_that_fit_beside_the_program_need_a_prefetch_alone(pause: int, first: str):
    names = chain("Map")
    nodes = [Node(names[0], 1000, 1), Node(names[1], 999, 900)]
    part = made(Made([(index * (1000 + pause), nodes) for index in range(5)]))
    [diagnosis] = diagnose_pipelines(find_pipelines(["h0"], [part]), {"h0": ALONE})
    assert diagnosis.findings[0].id == first
    ids = [finding.id for finding in diagnosis.findings]
    assert {"map_sequential", "prefetch_at_the_end"} <= set(ids)
    assert len(set(ids)) == len(ids)


def test_a_pipeline_that_ends_in_a_prefetch_is_not_told_to():
    for stage in ("Map", "ParallelMapV2", "Shuffle", "Generator", "TFRecord", "BatchV2"):
        assert ".prefetch(" not in said_in(bound_by("Prefetch", stage)), stage
