"""Advice on input pipelines: what is said of each kind of stage, with what was recorded of it."""

import pytest
from builders.tf_data_calls import ROOT, Made, Node, chain, made
from helpers.tf_data_advice import ALONE, advice_on, bound_by

from tbprof.advice.tf_data.tf_data_diagnosis import diagnose_pipelines
from tbprof.advice.tf_data.tf_data_pipelines import find_pipelines
from tbprof.advice.tf_data.tf_data_stages import Kind, kind_of, shown_type


@pytest.mark.parametrize(
    ("stage", "id_", "code"),
    [
        ("Map", "map_sequential", "num_parallel_calls=tf.data.AUTOTUNE"),
        ("ParallelMapV2", "map_function", ""),
        ("ParseExample", "map_function", ""),
        ("Interleave", "interleave_sequential", "num_parallel_calls=tf.data.AUTOTUNE"),
        ("ParallelInterleaveV4", "interleave_parallel", "cycle_length=32"),
        ("LegacyParallelInterleaveV2", "interleave_parallel", "cycle_length=32"),
        ("BatchV2", "batch_sequential", "num_parallel_calls=tf.data.AUTOTUNE"),
        ("PaddedBatchV2", "padded_batch", "bucket_by_sequence_length"),
        ("ParallelBatch", "batch_parallel", ""),
        ("Shuffle", "shuffle", "shuffle(1000)"),
        ("ShuffleAndRepeat", "shuffle", "shuffle(1000)"),
        ("Filter", "filter", "filter_parallelization"),
        ("FlatMap[0]", "flat_map", "interleave"),
        ("Unbatch", "unbatch", "rebatch"),
        ("Zip", "combine", "prefetch"),
        ("Concatenate", "combine", "prefetch"),
        ("MemoryCacheImpl", "cache_written", "save"),
        ("FiniteRepeat", "repeat", "cache().repeat()"),
        ("Window", "window", "batch"),
        ("Generator", "generator", "num_parallel_calls=tf.data.AUTOTUNE"),
        ("TFRecord", "reader", "cycle_length=16"),
        ("TextLine", "reader", "cycle_length=16"),
        ("FixedLengthRecordV2", "reader", "cycle_length=16"),
        ("TensorSlice", "memory_source", "batch"),
        ("DataServiceV4", "data_service_workers", "max_outstanding_requests"),
        ("ReverbDataset", "remote_source", ""),
        ("Prefetch", "prefetch_empty", "AUTOTUNE"),
        ("SomethingNewV3", "other", ""),
    ],
)
def test_every_kind_of_stage_has_advice_of_its_own(stage: str, id_: str, code: str):
    findings = bound_by("BatchV2", stage)
    assert next(iter(findings)) == id_  # what is said of the bottleneck comes first
    one = findings[id_]
    assert one.severity == "high"
    assert one.stage.endswith("::" + stage.removesuffix("[0]"))
    assert code in one.code


def test_windows_are_to_be_cut_from_arrays():
    """Their elements are scalars: copying these is not the work of the batch."""
    findings = bound_by("FlatMap", "BatchV2", below="Window")
    assert findings["batch_of_window"].severity == "high"
    assert "tf.signal.frame" in findings["batch_of_window"].code
    assert "batch_sequential" not in findings


def test_numbers_and_parameters_are_told():
    findings = bound_by("Shuffle", last={"buffer_size": 500, "buffered_elements": 12})
    assert findings["shuffle"].detail == (
        "Calls to pipeline Host:0 take 1 ms on average (3 calls), of which Shuffle takes 800 µs. "
        "Parameters in the trace: buffer_size 500, buffered_elements 12. Its buffer was already "
        "full, so this is its cost per element."
    )


def test_work_side_by_side_is_no_share_of_the_call():
    copies = [Node(f"{ROOT}::ParallelInterleaveV4[{index}]::Map", 70, 70) for index in range(2)]
    nodes = [Node(ROOT, 100, 5), Node(f"{ROOT}::ParallelInterleaveV4", 95, 25), *copies]
    assert advice_on(nodes)["map_sequential"].detail == (
        "Calls to pipeline Host:0 take 100 µs on average (3 calls); Map takes 140 µs per call, "
        "part of it before the call or in parallel."
    )


def test_a_filter_says_how_many_elements_it_drops():
    assert "requested 1,200 elements to return 12" in bound_by("Filter", taken=400)["filter"].detail


def test_a_combination_names_its_slowest_input():
    names = chain("Zip")
    nodes = [
        Node(names[0], 1000, 1), Node(names[1], 999, 500),
        Node(f"{names[1]}[0]::Map", 99, 99), Node(f"{names[1]}[1]::Shuffle", 400, 400),
    ]  # fmt: skip
    assert "slowest input, Shuffle, took 400 µs" in advice_on(nodes)["combine"].detail


def test_what_was_set_by_hand():
    findings = bound_by("ParallelMapV2", last={"autotune": "false", "parallelism": 4})
    assert "a fixed parallelism for ParallelMap" in findings["autotune"].detail


def test_a_pipeline_that_was_recorded_in_part_says_so():
    nodes = [Node("Iterator::Root::BatchV2", 1000, 1000)]
    part = made(Made([(0, nodes), (1000, nodes)], is_partial=True))
    [diagnosis] = diagnose_pipelines(find_pipelines(["h0"], [part]), {"h0": ALONE})
    assert "partly_recorded" in [finding.id for finding in diagnosis.findings]
    assert "prefetch_at_the_end" not in [finding.id for finding in diagnosis.findings]


@pytest.mark.parametrize("parameters", ["", "[1]", "{", '{"buffer_size": {}}', '{"name": 5}'])
def test_parameters_that_are_none_are_survived(parameters: str):
    part = made(Made([(0, [Node(ROOT, 1000, 1), Node(f"{ROOT}::Shuffle", 999, 999)])]))
    part.parameters[1] = parameters
    [diagnosis] = diagnose_pipelines(find_pipelines(["h0"], [part]), {"h0": ALONE})
    assert diagnosis.findings[0].id == "shuffle"


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "1e400", "x" * 10_000, "-3", True, 2**80])
def test_odd_values_of_parameters_are_survived(value: object):
    names = ("buffer_size", "batch_size", "parallelism", "cycle_length", "buffer_limit",
             "buffered_elements", "buffered_bytes_MB", "num_shards", "cpu_budget")  # fmt: skip
    odd = dict.fromkeys(names, value)
    for stage in ("Shuffle", "BatchV2", "ParallelMapV2", "ParallelInterleave", "Prefetch", "Shard",
                  "MapAndBatch"):  # fmt: skip
        for one in bound_by(stage, last=odd, root=odd, worker=5, wait=5).values():
            assert len(one.detail) < 2000


def test_names_become_kinds():
    assert kind_of("Iterator::Root::ParallelInterleaveV4[3]::TFRecord") is Kind.READER
    assert kind_of("Iterator::Root::ParallelMapV2") is Kind.PARALLEL_MAP
    assert kind_of("Iterator::Prefetch::Generator", is_device=True) is Kind.DEVICE
    assert kind_of("Iterator::Root::ForeverRepeat[7]::NumaMapAndBatchV2") is Kind.MAP_AND_BATCH
    assert kind_of("Iterator::") is Kind.OTHER
    assert shown_type("ParallelInterleaveV4[3]") == "ParallelInterleave"
    assert shown_type("V4") == ""


def test_the_loader_and_the_model_can_be_tried_apart():
    assert "take(1).cache().repeat()" in bound_by("Map")["try_apart"].code
    fine = advice_on([Node(ROOT, 20, 20)])
    assert "try_apart" not in fine
