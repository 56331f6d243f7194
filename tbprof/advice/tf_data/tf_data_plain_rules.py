"""Advice that depends only on the kind of a stage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tbprof.advice.finding import Finding
from tbprof.advice.guides import (
    DATASET,
    PARALLEL_MAPPING,
    PARALLEL_READING,
    PREFETCHING,
    SERVICE,
    TRANSFORMATIONS,
    VECTORIZING,
    Guide,
)
from tbprof.advice.tf_data.tf_data_case import Case, evidence
from tbprof.advice.tf_data.tf_data_stages import Kind
from tbprof.base.records import NamedTuple


class _Plain(NamedTuple):
    """Advice on a kind of stage; `{type}` and `{pipeline}` in the title are replaced."""

    id: str
    title: str
    action: str
    code: str
    guide: Guide


_PLAIN: Mapping[Kind, _Plain] = {
    Kind.MAP: _Plain(
        "map_sequential",
        "{type} works on one element at a time",
        "Run its function in several threads: .map(f, num_parallel_calls=tf.data.AUTOTUNE). Add "
        "deterministic=False if the order of elements does not matter.",
        "dataset = dataset.map(f, num_parallel_calls=tf.data.AUTOTUNE, deterministic=False)",
        PARALLEL_MAPPING,
    ),
    Kind.PARALLEL_BATCH: _Plain(
        "batch_parallel",
        "{type} waits for the elements of its batches",
        "Its threads take elements from the stage below, one at a time: speed up what feeds it, "
        "and keep elements small (uint8 images, cast on the device).",
        "",
        DATASET.section("batch"),
    ),
    Kind.FLAT_MAP: _Plain(
        "flat_map",
        "{type} reads one dataset after another",
        "Read several at a time: .interleave(f, num_parallel_calls=tf.data.AUTOTUNE) takes the "
        "same function. If the datasets are small, use fewer, larger ones.",
        "dataset = dataset.interleave(f, num_parallel_calls=tf.data.AUTOTUNE)",
        PARALLEL_MAPPING,
    ),
    Kind.UNBATCH: _Plain(
        "unbatch",
        "{type} splits batches",
        "Each element is a copy of a slice. Keep batches whole if later stages can work on "
        "them, or batch to the final size from the start.",
        "dataset = dataset.rebatch(batch_size)",
        VECTORIZING,
    ),
    Kind.INTERLEAVE: _Plain(
        "interleave_sequential",
        "{type} opens and reads its inputs in turn, in one thread",
        "Read several at a time, and ahead of time: .interleave(f, cycle_length=tf.data.AUTOTUNE, "
        "num_parallel_calls=tf.data.AUTOTUNE, deterministic=False).",
        "dataset = files.interleave(\n"
        "    tf.data.TFRecordDataset, cycle_length=tf.data.AUTOTUNE,\n"
        "    num_parallel_calls=tf.data.AUTOTUNE, deterministic=False)",
        PARALLEL_READING,
    ),
    Kind.MEMORY: _Plain(
        "memory_source",
        "{type} returns one small element at a time",
        "A call costs more than the element that it returns. Use larger elements early: batch "
        "before other stages, and map whole batches.",
        "dataset = dataset.batch(batch_size).map(f_of_batch)",
        TRANSFORMATIONS,
    ),
    Kind.DATA_SERVICE: _Plain(
        "data_service_workers",
        "The workers of the tf.data service are too slow or too far away",
        "Profile a worker: its trace shows its pipeline on this page. Then add workers, raise "
        "max_outstanding_requests, and place workers in this host's zone. compression=None saves "
        "processor time if the network is fast.",
        "dataset = dataset.apply(tf.data.experimental.service.distribute(\n"
        "    processing_mode=mode, service=service, max_outstanding_requests=32,\n"
        "    compression=None))",
        SERVICE,
    ),
    Kind.WINDOW: _Plain(
        "window",
        "{type} creates a dataset for each window or group",
        "One dataset per window is costly. If windows have a fixed size, use .batch(size), and "
        "slice it in a map.",
        "dataset = dataset.batch(size + 1).map(\n"
        "    lambda x: (x[:-1], x[1:]), num_parallel_calls=tf.data.AUTOTUNE)",
        VECTORIZING,
    ),
    Kind.DEVICE: _Plain(
        "device_waits",
        "{pipeline} waits for the host's pipeline",
        "Record the host as well: its pipeline may be slow. If it is fast, keep more elements "
        "ready on the device: "
        "tf.distribute.InputOptions(experimental_per_replica_buffer_size=4).",
        "options = tf.distribute.InputOptions(experimental_per_replica_buffer_size=4)\n"
        "dataset = strategy.experimental_distribute_dataset(dataset, options)",
        PREFETCHING,
    ),
    Kind.OTHER: _Plain(
        "other",
        "The time is spent in {type}",
        "Look at its calls in the trace viewer. Fewer, larger elements (batch earlier) or "
        "another order of stages may reduce their number.",
        "",
        TRANSFORMATIONS,
    ),
}


def plain(case: Case) -> Iterator[Finding]:
    """Advice that depends only on the kind of the stage, not on its numbers."""
    advice = _PLAIN.get(case.stage.kind)
    if advice is None:
        return
    title = advice.title.replace("{pipeline}", case.pipeline.name).replace("{type}", case.type)
    yield Finding(
        id=advice.id,
        severity=case.severity,
        title=title,
        detail=evidence(case),
        action=advice.action,
        code=advice.code,
        guide=advice.guide,
    )
