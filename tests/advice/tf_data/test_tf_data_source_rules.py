"""Advice on readers, interleaves and generators."""

from builders.tf_data_calls import Node, chain
from helpers.tf_data_advice import advice_on, bound_by

from tbprof.advice.tf_data.tf_data_case import PipelineFacts


def test_readers_are_read_in_parallel_cached_and_sharded_early():
    alone = bound_by("FlatMap[0]", "TFRecord", below="")
    assert "one file after another" in alone["reader"].title
    assert {"storage", "cache_after_reader"} <= alone.keys()
    assert not {"shard", "shard_early"} & alone.keys()
    several = PipelineFacts(hosts=4, has_gpu=False, python_ps=0)
    assert "4 hosts" in bound_by("FlatMap[0]", "TFRecord", below="", facts=several)["shard"].detail
    parallel = advice_on(
        [Node(name, 1000 - at, 900 if at == 2 else 1) for at, name in
         enumerate(chain("ParallelInterleaveV4", "TFRecord"))],
        {chain("ParallelInterleaveV4")[1]: {"cycle_length": 16}},
    )  # fmt: skip
    assert "reads 16 of them in turn" in parallel["reader"].detail
    late = advice_on(
        [Node(name, 1000 - at, 900 if at == 2 else 1) for at, name in
         enumerate(chain("Shard", "TFRecord"))],
        {chain("Shard")[1]: {"num_shards": 8, "index": 0}},
    )  # fmt: skip
    assert "Only one of 8 elements that it reads is used" in late["shard_early"].detail
    assert "cache_after_reader" not in bound_by("MemoryCache", "TFRecord", below="")


def test_many_small_files_are_told():
    names = chain("Interleave")
    nodes = [
        Node(names[0], 1000, 10), Node(names[1], 990, 700, 64),
        Node(f"{names[1]}::TensorSlice", 90, 90, 64),
        Node(f"{names[1]}[0]::TFRecord", 200, 200, 128),
    ]  # fmt: skip
    said = advice_on(nodes)["small_inputs"].detail
    assert "In all 3 calls, about 192 inputs were opened for 192 elements" in said
    nodes[2] = nodes[2]._replace(calls=1)
    assert "small_inputs" not in advice_on(nodes)


def test_interleaves_that_have_fewer_threads_than_inputs():
    last = {"parallelism": 2, "cycle_length": 16, "deterministic": "true"}
    findings = bound_by("ParallelInterleaveV4", last=last)
    assert (
        findings["interleave_parallel"].title
        == "ParallelInterleave reads 2 of its 16 inputs at a time"
    )
    assert "deterministic=False" in findings["interleave_parallel"].action
    assert "autotune" not in findings


def test_generators_that_are_interleaved_are_not_told_to_be():
    alone = bound_by("FlatMap[0]", "Generator", below="")
    assert alone["generators"].title == "Interleave several generators"
    names = chain("ParallelInterleaveV4", "Generator")
    nodes = [Node(name, 1000 - at, 900 if at == 2 else 1) for at, name in enumerate(names)]
    several = advice_on(nodes, {names[1]: {"cycle_length": 4}})
    assert several["generators"].title == "Interleave more than 4 generators"
