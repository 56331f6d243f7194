"""Advice on input pipelines: what is said of each kind of stage, with what was recorded of it."""

from collections.abc import Mapping, Sequence

import pytest
from builders.tf_data_calls import ROOT, Made, Node, chain, made

from tbprof.advice.finding import SEVERITIES, Finding
from tbprof.advice.tf_data.tf_data_case import PipelineFacts
from tbprof.advice.tf_data.tf_data_judgement import judge
from tbprof.advice.tf_data.tf_data_pipelines import find_pipelines
from tbprof.advice.tf_data.tf_data_stages import Kind, kind_of, shown_type

ALONE = PipelineFacts(hosts=1, has_gpu=False, python_ps=0)
MS = 1_000_000_000
Parameters = Mapping[str, Mapping[str, object]]


def advice_on(
    nodes: Sequence[Node], parameters: Parameters | None = None, facts: PipelineFacts = ALONE
) -> dict[str, Finding]:
    """By id: what is said of a pipeline whose every call is this one, without a pause."""
    calls = [(at * nodes[0].total, nodes) for at in range(3)]
    part = made(Made(calls, parameters=parameters or {}))
    [judgement] = judge(find_pipelines(["h0"], [part]), {"h0": facts})
    assert len({one.id for one in judgement.findings}) == len(judgement.findings)
    for one in judgement.findings:
        assert one.severity in SEVERITIES
        assert one.title
        assert one.detail
        assert one.action.endswith(".")
        assert one.guide.url.startswith("https://")
        for code in (one.action, one.code):
            assert "nan" not in code.split()
    return {one.id: one for one in judgement.findings}


def bound_by(
    *stages: str, own: int = 800, total: int = 1000, calls: int = 4, taken: int = 4,
    worker: int = -1, wait: int = 0,
    last: Mapping[str, object] | None = None, root: Mapping[str, object] | None = None,
    facts: PipelineFacts = ALONE, below: str = "Range",
) -> dict[str, Finding]:  # fmt: skip
    """What is said where the last of `stages` takes `own` of `total` µs; `last`: its parameters."""
    names = chain(*stages)
    nodes = [Node(name, total - at, 1) for at, name in enumerate(names[:-1])]
    nodes.append(Node(names[-1], total - len(nodes), own, calls, worker=worker, wait=wait))
    if below:
        rest = nodes[-1].total - own
        nodes.append(Node(f"{names[-1]}::{below}", rest, rest, taken))
    return advice_on(nodes, {names[-1]: last or {}, names[0]: root or {}}, facts)


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
    found = bound_by("BatchV2", stage)
    assert next(iter(found)) == id_  # what is said of the bottleneck comes first
    one = found[id_]
    assert one.severity == "high"
    assert one.stage.endswith("::" + stage.removesuffix("[0]"))
    assert code in one.code


def test_numbers_and_parameters_are_told():
    found = bound_by("Shuffle", last={"buffer_size": 500, "buffered_elements": 12})
    assert found["shuffle"].detail == (
        "Calls to pipeline Host:0 take 1 ms on average (3 calls), of which Shuffle takes 800 µs. "
        "Parameters in the trace: buffer_size 500, buffered_elements 12. Its buffer was already "
        "full: this is its cost per element."
    )


def test_work_side_by_side_is_no_share_of_the_call():
    copies = [Node(f"{ROOT}::ParallelInterleaveV4[{at}]::Map", 70, 70) for at in range(2)]
    nodes = [Node(ROOT, 100, 5), Node(f"{ROOT}::ParallelInterleaveV4", 95, 25), *copies]
    assert advice_on(nodes)["map_sequential"].detail == (
        "Calls to pipeline Host:0 take 100 µs on average (3 calls); Map takes 140 µs per call, "
        "part of it before the call or in parallel."
    )


def test_a_shuffle_that_fills_is_told_from_one_that_is_slow():
    found = bound_by("Shuffle", taken=5000, last={"buffer_size": 5000},
                     root={"warm_start": "false"})  # fmt: skip
    assert "fills its buffer of 5,000 elements" in found["shuffle_fill"].title
    assert "took 5,000 elements to return 4" in found["shuffle_fill"].detail
    assert "experimental_warm_start" in found["warm_start"].code
    assert "shuffle" not in found
    assert "warm_start" not in bound_by("Shuffle", taken=5000, root={"warm_start": "true"})
    steady = bound_by("Shuffle", taken=4)
    assert "shuffle_large_elements" in steady
    assert "shuffle_fill" not in steady


def test_a_parallel_map_has_too_few_threads_or_idle_ones_or_is_slow():
    few = bound_by("ParallelMapV2", last={"parallelism": 2, "autotune": "false"},
                   root={"cpu_budget": 8}, worker=1500, wait=800)  # fmt: skip
    assert (
        few["map_few_threads"].title == "ParallelMap runs its function with a parallelism of only 2"
    )
    assert "tf.data can use 8 processors" in few["map_few_threads"].detail
    idle = bound_by("ParallelMapV2", last={"parallelism": 8}, root={"cpu_budget": 8},
                    worker=1998, wait=800)  # fmt: skip
    # 8 threads for 999 µs.
    assert idle["map_threads_wait"].title == "The threads of ParallelMap worked 25.0 % of the time"
    assert "private_threadpool_size" in idle["map_threads_wait"].code
    busy = bound_by("ParallelMapV2", last={"parallelism": 8}, root={"cpu_budget": 8},
                    worker=7000, wait=800)  # fmt: skip
    assert "Its threads worked 87.6 % of the time" in busy["map_function"].detail
    assert "800 µs of that is spent waiting for its own threads, which meanwhile worked 7 ms" in (
        busy["map_function"].detail
    )
    tuned = bound_by("ParallelMapV2", last={"parallelism": 2, "autotune": "true"},
                     root={"cpu_budget": 8}, worker=1998, wait=800)  # fmt: skip
    assert "map_few_threads" not in tuned


def test_threads_that_wait_between_tiny_calls_need_fewer_calls():
    """512 elements in 800 µs: the function took 5 µs of each, or else 100 µs of 8 elements."""
    fused = {"parallelism": 2, "name": "fused(MapDataset:6,Batch:7)"}
    tiny = bound_by("MapAndBatch", last={**fused, "batch_size": 512}, root={"cpu_budget": 2},
                    worker=400, wait=800)  # fmt: skip
    assert next(iter(tiny)) == "map_vectorize"
    assert tiny["map_vectorize"].severity != "moderate"
    assert tiny["map_vectorize"].detail.endswith("Its threads worked 20.0 % of the time.")
    assert "map_threads_wait" not in tiny
    short = bound_by("MapAndBatch", last={**fused, "batch_size": 1}, root={"cpu_budget": 2},
                     worker=400, wait=800)  # fmt: skip
    assert next(iter(short)) == "map_threads_wait"
    assert short["map_vectorize"].severity == "moderate"


def test_maps_before_batches_can_work_on_batches():
    found = advice_on(
        [Node(name, 1000 - at, 900 if at == 2 else 1, 64) for at, name in
         enumerate(chain("BatchV2", "Map", "Range"))],
        {chain("BatchV2")[1]: {"batch_size": 64}},
    )  # fmt: skip
    assert "called 64 times for each batch" in found["map_vectorize"].detail
    assert found["map_vectorize"].code.startswith("dataset = dataset.batch(64).map(")
    assert "map_vectorize" not in bound_by("Map")
    # Batches are mapped already; and a function that takes long is not a matter of calls.
    assert "map_vectorize" not in bound_by("BatchV2", "Map", below="BatchV2")
    assert "map_vectorize" not in bound_by("BatchV2", "Map", calls=1)
    fused = bound_by("MapAndBatch", last={"batch_size": 8, "name": "fused(MapDataset:6,Batch:7)"})
    assert "8 times for each batch" in fused["map_vectorize"].detail
    assert fused["map_function"].detail.startswith(
        "tf.data fused map() and batch() into this stage"
    )


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


def test_python_is_blamed_where_it_ran():
    assert "python_function" not in bound_by("Map")
    little = bound_by("Map", facts=PipelineFacts(1, has_gpu=False, python_ps=MS // 10))
    assert little["python_function"].severity == "moderate"
    most = bound_by("Map", facts=PipelineFacts(1, has_gpu=False, python_ps=2 * MS))
    assert most["python_function"].severity == "high"
    assert "2 ms on this host" in most["python_function"].detail
    generator = bound_by("FlatMap[0]", "Generator", below="",
                         facts=PipelineFacts(1, has_gpu=False, python_ps=2 * MS))  # fmt: skip
    assert "each element, 2 ms on this host" in generator["generator"].detail
    assert "generators" in generator


def test_gpus_can_decode():
    assert "dali" not in bound_by("Map")
    assert (
        "DALI" in bound_by("Map", facts=PipelineFacts(1, has_gpu=True, python_ps=0))["dali"].action
    )


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
    assert "Of 8 elements that are read, one is used" in late["shard_early"].detail
    assert "cache_after_reader" not in bound_by("MemoryCache", "TFRecord", below="")


def test_many_small_files_are_told():
    names = chain("Interleave")
    nodes = [
        Node(names[0], 1000, 10), Node(names[1], 990, 700, 64),
        Node(f"{names[1]}::TensorSlice", 90, 90, 64),
        Node(f"{names[1]}[0]::TFRecord", 200, 200, 128),
    ]  # fmt: skip
    said = advice_on(nodes)["small_inputs"].detail
    assert "In all 3 calls about 192 inputs were opened for 192 elements" in said
    nodes[2] = nodes[2]._replace(calls=1)
    assert "small_inputs" not in advice_on(nodes)


def test_interleaves_that_have_fewer_threads_than_inputs():
    last = {"parallelism": 2, "cycle_length": 16, "deterministic": "true"}
    found = bound_by("ParallelInterleaveV4", last=last)
    assert (
        found["interleave_parallel"].title
        == "ParallelInterleave reads 2 of its 16 inputs at a time"
    )
    assert "deterministic=False" in found["interleave_parallel"].action
    assert "autotune" not in found


def test_a_filter_says_how_many_elements_it_drops():
    assert "It took 1,200 elements to return 12" in bound_by("Filter", taken=400)["filter"].detail


def test_a_combination_names_its_slowest_input():
    names = chain("Zip")
    nodes = [
        Node(names[0], 1000, 1), Node(names[1], 999, 500),
        Node(f"{names[1]}[0]::Map", 99, 99), Node(f"{names[1]}[1]::Shuffle", 400, 400),
    ]  # fmt: skip
    assert "slowest input, Shuffle, took 400 µs" in advice_on(nodes)["combine"].detail


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
    found = advice_on(nodes, {names[1]: injected})
    assert not {"prefetch_at_the_end", "prefetch_buffer"} & found.keys()


def test_a_prefetch_that_waits_for_a_processor():
    found = bound_by("Prefetch", own=990, worker=1, wait=990)
    assert found["prefetch_empty"].title == "Prefetch waits while little is produced for it"
    found = bound_by("Prefetch", own=520, worker=1, wait=520)
    assert found["prefetch_empty"].title == "Prefetch had nothing ready"
    assert "show no call at that time" in bound_by("Prefetch", below="")["prefetch_empty"].detail


def test_what_was_set_by_hand():
    found = bound_by("ParallelMapV2", last={"autotune": "false", "parallelism": 4})
    assert "a fixed parallelism for ParallelMap" in found["autotune"].detail


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


def test_a_pipeline_that_was_recorded_in_part_says_so():
    nodes = [Node("Iterator::Root::BatchV2", 1000, 1000)]
    part = made(Made([(0, nodes), (1000, nodes)], is_partial=True))
    [judgement] = judge(find_pipelines(["h0"], [part]), {"h0": ALONE})
    assert "partly_recorded" in [one.id for one in judgement.findings]
    assert "prefetch_at_the_end" not in [one.id for one in judgement.findings]


@pytest.mark.parametrize("parameters", ["", "[1]", "{", '{"buffer_size": {}}', '{"name": 5}'])
def test_parameters_that_are_none_are_survived(parameters: str):
    part = made(Made([(0, [Node(ROOT, 1000, 1), Node(f"{ROOT}::Shuffle", 999, 999)])]))
    part.parameters[1] = parameters
    [judgement] = judge(find_pipelines(["h0"], [part]), {"h0": ALONE})
    assert judgement.findings[0].id == "shuffle"


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


@pytest.mark.parametrize(
    ("pause", "first"), [(500, "map_sequential"), (1500, "prefetch_at_the_end")]
)
def test_calls_that_fit_beside_the_program_need_a_prefetch_alone(pause: int, first: str):
    names = chain("Map")
    nodes = [Node(names[0], 1000, 1), Node(names[1], 999, 900)]
    part = made(Made([(at * (1000 + pause), nodes) for at in range(5)]))
    [judgement] = judge(find_pipelines(["h0"], [part]), {"h0": ALONE})
    assert judgement.findings[0].id == first
    ids = [one.id for one in judgement.findings]
    assert {"map_sequential", "prefetch_at_the_end"} <= set(ids)
    assert len(set(ids)) == len(ids)


def said_in(found: Mapping[str, Finding]) -> str:
    return " ".join(f"{one.title} {one.action} {one.code}" for one in found.values())


def test_a_map_that_is_parallel_and_tuned_is_not_told_to_be():
    found = bound_by("ParallelMapV2", last={"parallelism": 2, "autotune": "true"},
                     root={"cpu_budget": 2, "threadpool_size": 2}, worker=1990)  # fmt: skip
    assert next(iter(found)) == "map_function"
    assert (
        "ParallelMap runs its function with a parallelism of 2 on 2 processors"
        in found["map_function"].action
    )
    assert "num_parallel_calls" not in said_in(found).replace(
        ".map(decode, num_parallel_calls=tf.data.AUTOTUNE).cache()", ""
    )
    assert not {"autotune", "map_few_threads", "map_small_pool"} & found.keys()


def test_threads_of_the_pool_that_are_fewer_than_processors_are_named():
    found = bound_by("ParallelMapV2", last={"parallelism": 16, "autotune": "true"},
                     root={"cpu_budget": 16, "threadpool_size": 4}, worker=3990)  # fmt: skip
    assert "has 4 threads for 16 processors" in found["map_small_pool"].title
    assert "private_threadpool_size = 16" in found["map_small_pool"].code
    assert "map_function" not in found


def test_a_map_that_fills_the_pool_says_who_waits_for_it():
    root, batch, filter_, mapped = chain("BatchV2", "Filter", "ParallelMapV2")
    found = advice_on(
        [
            Node(root, 1000, 10), Node(batch, 990, 20),
            Node(filter_, 970, 960, 4, queue=940, held=20),
            Node(mapped, 10, 10, 4, worker=40, wait=10, held=950),
        ],
        {root: {"cpu_budget": 2}, mapped: {"parallelism": 2, "autotune": "true"}},
    )  # fmt: skip
    assert next(iter(found)) == "map_function"  # though its threads worked little meanwhile
    assert "For 940 µs of it Filter waited for a thread of the pool" in found["map_function"].detail
    assert "filter" not in found


def test_a_pool_that_something_else_fills_is_to_be_left():
    names = chain("Filter")
    waits = [Node(names[0], 1000, 10), Node(names[1], 990, 990, 4, queue=900)]
    found = advice_on(waits)
    assert "For 900 µs of it its function waited" in found["filter"].detail
    assert "private_threadpool_size" in found["pool_of_its_own"].code
    assert "pool_of_its_own" not in bound_by("Filter")


def test_generators_that_are_interleaved_are_not_told_to_be():
    alone = bound_by("FlatMap[0]", "Generator", below="")
    assert alone["generators"].title == "Several generators, in turn"
    names = chain("ParallelInterleaveV4", "Generator")
    nodes = [Node(name, 1000 - at, 900 if at == 2 else 1) for at, name in enumerate(names)]
    several = advice_on(nodes, {names[1]: {"cycle_length": 4}})
    assert several["generators"].title == "More than 4 generators at a time"


def test_a_pipeline_that_ends_in_a_prefetch_is_not_told_to():
    for stage in ("Map", "ParallelMapV2", "Shuffle", "Generator", "TFRecord", "BatchV2"):
        assert ".prefetch(" not in said_in(bound_by("Prefetch", stage)), stage


def test_python_that_generators_run_is_none_of_a_map():
    facts = PipelineFacts(1, has_gpu=False, python_ps=2 * MS)
    assert "python_function" not in bound_by("Map", below="Generator", facts=facts)


def test_processors_of_others_are_no_help_where_threads_wait():
    last, root = {"parallelism": 8}, {"cpu_budget": 8}
    idle = bound_by("ParallelMapV2", last=last, root=root, worker=500, wait=800)
    assert not {"data_service", "dali"} & idle.keys()
    busy = bound_by("ParallelMapV2", last=last, root=root, worker=7900, wait=800)
    assert "data_service" in busy


def test_the_loader_and_the_model_can_be_tried_apart():
    assert "take(1).cache().repeat()" in bound_by("Map")["try_apart"].code
    fine = advice_on([Node(ROOT, 20, 20)])
    assert "try_apart" not in fine
