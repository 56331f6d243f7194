"""Advice on maps: whether they are parallel, what their threads wait for, what they could do."""

from builders.tf_data_calls import Node, chain
from helpers.tf_data_advice import MS, advice_on, bound_by, said_in

from tbprof.advice.tf_data.tf_data_case import PipelineFacts


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
    assert (
        idle["map_threads_wait"].title
        == "The threads of ParallelMap worked only 25.0 % of the time"
    )
    assert "private_threadpool_size" in idle["map_threads_wait"].code
    busy = bound_by("ParallelMapV2", last={"parallelism": 8}, root={"cpu_budget": 8},
                    worker=7000, wait=800)  # fmt: skip
    assert "Its threads worked 87.6 % of the time" in busy["map_function"].detail
    assert "800 µs of that is spent waiting for its own threads, which worked 7 ms" in (
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
    findings = advice_on(
        [Node(name, 1000 - at, 900 if at == 2 else 1, 64) for at, name in
         enumerate(chain("BatchV2", "Map", "Range"))],
        {chain("BatchV2")[1]: {"batch_size": 64}},
    )  # fmt: skip
    assert "called 64 times for each batch" in findings["map_vectorize"].detail
    assert findings["map_vectorize"].code.startswith("dataset = dataset.batch(64).map(")
    assert "map_vectorize" not in bound_by("Map")
    # Batches are mapped already; and a function that takes long is not a matter of calls.
    assert "map_vectorize" not in bound_by("BatchV2", "Map", below="BatchV2")
    assert "map_vectorize" not in bound_by("BatchV2", "Map", calls=1)
    fused = bound_by("MapAndBatch", last={"batch_size": 8, "name": "fused(MapDataset:6,Batch:7)"})
    assert "8 times for each batch" in fused["map_vectorize"].detail
    assert fused["map_function"].detail.startswith(
        "tf.data fused map() and batch() into this stage"
    )


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


def test_a_map_that_is_parallel_and_tuned_is_not_told_to_be():
    findings = bound_by("ParallelMapV2", last={"parallelism": 2, "autotune": "true"},
                     root={"cpu_budget": 2, "threadpool_size": 2}, worker=1990)  # fmt: skip
    assert next(iter(findings)) == "map_function"
    assert (
        "ParallelMap runs its function with a parallelism of 2 on 2 processors"
        in findings["map_function"].action
    )
    assert "num_parallel_calls" not in said_in(findings).replace(
        ".map(decode, num_parallel_calls=tf.data.AUTOTUNE).cache()", ""
    )
    assert not {"autotune", "map_few_threads", "map_small_pool"} & findings.keys()


def test_threads_of_the_pool_that_are_fewer_than_processors_are_named():
    findings = bound_by("ParallelMapV2", last={"parallelism": 16, "autotune": "true"},
                     root={"cpu_budget": 16, "threadpool_size": 4}, worker=3990)  # fmt: skip
    assert "has a pool of only 4 threads for 16 processors" in findings["map_small_pool"].title
    assert "private_threadpool_size = 16" in findings["map_small_pool"].code
    assert "map_function" not in findings


def test_a_map_that_fills_the_pool_says_who_waits_for_it():
    root, batch, filter_, mapped = chain("BatchV2", "Filter", "ParallelMapV2")
    findings = advice_on(
        [
            Node(root, 1000, 10), Node(batch, 990, 20),
            Node(filter_, 970, 960, 4, queue=940, held=20),
            Node(mapped, 10, 10, 4, worker=40, wait=10, held=950),
        ],
        {root: {"cpu_budget": 2}, mapped: {"parallelism": 2, "autotune": "true"}},
    )  # fmt: skip
    assert next(iter(findings)) == "map_function"  # though its threads worked little meanwhile
    assert "For 940 µs of that time, Filter waited" in findings["map_function"].detail
    assert "filter" not in findings


def test_a_pool_that_something_else_fills_is_to_be_left():
    names = chain("Filter")
    waits = [Node(names[0], 1000, 10), Node(names[1], 990, 990, 4, queue=900)]
    findings = advice_on(waits)
    assert "For 900 µs of that time, its function waited" in findings["filter"].detail
    assert "private_threadpool_size" in findings["pool_of_its_own"].code
    assert "pool_of_its_own" not in bound_by("Filter")


def test_python_that_generators_run_is_none_of_a_map():
    facts = PipelineFacts(1, has_gpu=False, python_ps=2 * MS)
    assert "python_function" not in bound_by("Map", below="Generator", facts=facts)


def test_processors_of_others_are_no_help_where_threads_wait():
    last, root = {"parallelism": 8}, {"cpu_budget": 8}
    idle = bound_by("ParallelMapV2", last=last, root=root, worker=500, wait=800)
    assert not {"data_service", "dali"} & idle.keys()
    busy = bound_by("ParallelMapV2", last=last, root=root, worker=7900, wait=800)
    assert "data_service" in busy
