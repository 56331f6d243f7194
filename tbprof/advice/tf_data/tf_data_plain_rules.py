"""Advice on stages about which only their time is reported."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

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
        "Let several threads run its function: .map(f, num_parallel_calls=tf.data.AUTOTUNE). Add "
        "deterministic=False where the order of elements does not matter.",
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
        "{type} opens and empties one dataset after another",
        "Read from several at a time: .interleave(f, num_parallel_calls=tf.data.AUTOTUNE) takes "
        "the same function. Where each of them is small, make fewer and larger ones.",
        "dataset = dataset.interleave(f, num_parallel_calls=tf.data.AUTOTUNE)",
        PARALLEL_MAPPING,
    ),
    Kind.UNBATCH: _Plain(
        "unbatch",
        "{type} takes batches apart",
        "Each element is a copy of a slice. Leave batches whole where the stages behind can work "
        "on them, or batch to the final size from the start.",
        "dataset = dataset.rebatch(batch_size)",
        VECTORIZING,
    ),
    Kind.INTERLEAVE: _Plain(
        "interleave_sequential",
        "{type} opens and reads its inputs in turn, in one thread",
        "Read several at a time, and ahead: .interleave(f, cycle_length=tf.data.AUTOTUNE, "
        "num_parallel_calls=tf.data.AUTOTUNE, deterministic=False).",
        "dataset = files.interleave(\n"
        "    tf.data.TFRecordDataset, cycle_length=tf.data.AUTOTUNE,\n"
        "    num_parallel_calls=tf.data.AUTOTUNE, deterministic=False)",
        PARALLEL_READING,
    ),
    Kind.MEMORY: _Plain(
        "memory_source",
        "{type} hands out one small element at a time",
        "Each call costs more than its element. Take larger pieces early: batch before other "
        "stages, and map whole batches.",
        "dataset = dataset.batch(batch_size).map(f_of_batch)",
        TRANSFORMATIONS,
    ),
    Kind.DATA_SERVICE: _Plain(
        "data_service_workers",
        "The workers of the tf.data service are too slow, or too far",
        "Profile a worker: its trace shows its pipeline on this page. Then add workers, raise "
        "max_outstanding_requests, and place workers in the zone of this host; compression=None "
        "saves processors where the network is fast.",
        "dataset = dataset.apply(tf.data.experimental.service.distribute(\n"
        "    processing_mode=mode, service=service, max_outstanding_requests=32,\n"
        "    compression=None))",
        SERVICE,
    ),
    Kind.WINDOW: _Plain(
        "window",
        "{type} makes a dataset for each window or group",
        "Where windows are of fixed size, .batch(size) and slices of it in a map do with less: "
        "one dataset per window is costly.",
        "dataset = dataset.batch(size + 1).map(\n"
        "    lambda x: (x[:-1], x[1:]), num_parallel_calls=tf.data.AUTOTUNE)",
        VECTORIZING,
    ),
    Kind.DEVICE: _Plain(
        "device_waits",
        "{pipeline} waits for the host's pipeline",
        "The pipeline of a device fetches what the host's pipeline makes, and this trace does not "
        "show that one. Record the host as well: its pipeline may be slow. If it is fast, let more "
        "elements wait on the device: "
        "tf.distribute.InputOptions(experimental_per_replica_buffer_size=4).",
        "options = tf.distribute.InputOptions(experimental_per_replica_buffer_size=4)\n"
        "dataset = strategy.experimental_distribute_dataset(dataset, options)",
        PREFETCHING,
    ),
    Kind.OTHER: _Plain(
        "other",
        "{type} takes the time",
        "Look at its calls in the trace viewer, and whether fewer and larger elements (batch "
        "earlier) or another order of stages make them fewer.",
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
        stage=case.stage.long_name,
    )
