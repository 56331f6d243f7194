"""Advice on bottlenecks that read from files, generators or other machines."""

from __future__ import annotations

from collections.abc import Iterator

from tbprof.advice.finding import Finding
from tbprof.advice.guides import CACHING, DATASET, PARALLEL_READING, SOURCES, TRANSFORMATIONS
from tbprof.advice.tf_data.tf_data_case import (
    Case,
    StageRule,
    duration,
    evidence,
    of_kinds,
    private_pool,
)
from tbprof.advice.tf_data.tf_data_stages import INTERLEAVES, Kind, shown_type

# With fewer elements per input, opening inputs is most of the work.
_FEW_ELEMENTS = 10


@of_kinds(Kind.PARALLEL_INTERLEAVE)
def interleave_parallel(case: Case) -> Iterator[Finding]:
    """Reading threads that are too few or too slow."""
    stage = case.stage
    threads, cycle = stage.number("parallelism"), stage.number("cycle_length")
    if threads < cycle and stage.is_set("autotune") is not True:
        title = f"{case.type} reads {threads:.0f} of its {cycle:.0f} inputs at a time"
        action = "Use as many threads as inputs: num_parallel_calls=tf.data.AUTOTUNE."
    else:
        title = f"{case.type} waits for its inputs"
        action = (
            "If storage is slow or remote, read from more inputs at a time: cycle_length=32, "
            "with num_parallel_calls=tf.data.AUTOTUNE."
        )
    if stage.is_set("deterministic") is not False:
        action += " If the order does not matter, deterministic=False lets fast inputs pass "
        action += "slow ones."
    yield Finding(
        id="interleave_parallel",
        severity=case.severity,
        title=title,
        detail=evidence(case),
        action=action,
        code=(
            "dataset = files.interleave(\n"
            "    tf.data.TFRecordDataset, cycle_length=32, block_length=16,\n"
            "    num_parallel_calls=tf.data.AUTOTUNE, deterministic=False)"
        ),
        guide=PARALLEL_READING,
    )


@of_kinds(*INTERLEAVES, Kind.FLAT_MAP)
def interleave_small_inputs(case: Case) -> Iterator[Finding]:
    """Many inputs of few elements: opening them is the work."""
    elements = case.work.calls
    # The input with file names is called once for each opened file.
    single = [
        stage for stage in case.below() if stage.kind is not Kind.READER and stage.iterators == 1
    ]
    inputs = max((case.work_of(stage).calls for stage in single), default=0)
    if inputs < 2 or elements >= _FEW_ELEMENTS * inputs:
        return
    yield Finding(
        id="small_inputs",
        severity="moderate",
        title="Use fewer, larger files",
        detail=(
            f"In {case.calls}, about {inputs:,} inputs were opened for {elements:,} elements: "
            "opening them costs more than reading."
        ),
        action=(
            "Write files of 100 to 200 MB, thousands of elements each, in a format that is read in "
            "one stream, such as TFRecord."
        ),
        guide=SOURCES,
    )


@of_kinds(Kind.READER)
def reader(case: Case) -> Iterator[Finding]:
    """A reader that its consumer waits for."""
    above = case.above(*INTERLEAVES)
    if above is not None and above.kind is Kind.PARALLEL_INTERLEAVE:
        title = f"{case.type} reads too slowly, from several files already"
        action = (
            "Read from more of them at a time (cycle_length=32), and in larger pieces: "
            "tf.data.TFRecordDataset(file, buffer_size=8 * 1024 * 1024)."
        )
        cycle = above.parameters.get("cycle_length", "several")
        cycle_sentence = f" {shown_type(above.type_name)} reads {cycle} of them in turn."
    else:
        title = f"{case.type} reads one file after another"
        action = (
            "Read several at a time: .interleave(reader, num_parallel_calls=tf.data.AUTOTUNE) over "
            "the file names, or TFRecordDataset with num_parallel_reads=tf.data.AUTOTUNE. From "
            "remote storage, read in larger pieces: buffer_size=8 * 1024 * 1024."
        )
        cycle_sentence = ""
    yield Finding(
        id="reader",
        severity=case.severity,
        title=title,
        detail=evidence(case) + cycle_sentence,
        action=action,
        code=(
            "files = tf.data.Dataset.list_files('gs://bucket/train-*')\n"
            "dataset = files.interleave(\n"
            "    lambda name: tf.data.TFRecordDataset(name, buffer_size=8 * 1024 * 1024),\n"
            "    cycle_length=16, num_parallel_calls=tf.data.AUTOTUNE, deterministic=False)"
        ),
        guide=PARALLEL_READING,
    )
    yield Finding(
        id="storage",
        severity="moderate",
        title="Move the data closer, and store it in a format that is fast to read",
        detail=(
            "A reader's own time is spent waiting for storage and decompressing: TFRecord files "
            "with compression_type='GZIP' are decompressed in the thread that reads them."
        ),
        action=(
            "Keep remote files (gs://, s3://) in the machine's region, or copy them to its disk "
            "before training. Files of 100 to 200 MB are fastest to read; store them without "
            "compression, or compress their contents (JPEG, PNG)."
        ),
        guide=SOURCES,
    )


@of_kinds(Kind.READER)
def reader_sharded(case: Case) -> Iterator[Finding]:
    """Hosts that read other hosts' data."""
    sharded = next((stage for stage in case.path_to_root() if stage.parts[-1] == "shard"), None)
    if sharded is not None:
        shards = sharded.number("num_shards")
        others = f" Only one of {shards:.0f} elements that it reads is used." if shards > 1 else ""
        yield Finding(
            id="shard_early",
            severity="high" if case.severity == "high" else "moderate",
            title="Shard the list of files, not their contents",
            detail=f"Shard comes after {case.type}: every host reads all files.{others}",
            action=(
                "Call shard on the file names, before files are opened: files.shard(num_hosts, "
                "host).interleave(...)."
            ),
            code=(
                "files = files.shard(num_shards=num_hosts, index=host)\n"
                "dataset = files.interleave(\n"
                "    tf.data.TFRecordDataset, num_parallel_calls=tf.data.AUTOTUNE)"
            ),
            guide=DATASET.section("shard"),
        )
    elif case.facts.hosts > 1 and all(stage.parts[-1] != "shard" for stage in case.stages):
        yield Finding(
            id="shard",
            severity="low",
            title="Let each host read its own files",
            detail=(
                f"{case.facts.hosts} hosts were recorded, and the pipeline has no Shard stage: "
                "unless a strategy or the list of files splits the work, each host reads "
                "everything."
            ),
            action=(
                "Call shard on the file names, before files are opened: files.shard(num_hosts, "
                "host).interleave(...)."
            ),
            code="files = files.shard(num_shards=num_hosts, index=host)",
            guide=DATASET.section("shard"),
        )


@of_kinds(Kind.READER)
def reader_cached(case: Case) -> Iterator[Finding]:
    """Files that are read again in every epoch."""
    if case.has(Kind.CACHE):
        return
    yield Finding(
        id="cache_after_reader",
        severity="moderate",
        title="Cache the data after reading: .cache()",
        detail="No stage caches the data: every epoch reads the files again.",
        action=(
            "If the data fits into memory or onto a local disk, add .cache() or "
            ".cache('/local/path') after reading and decoding, before shuffle and batch."
        ),
        code="dataset = dataset.cache()",
        guide=CACHING,
    )


@of_kinds(Kind.GENERATOR)
def generator(case: Case) -> Iterator[Finding]:
    """A Python generator as a source."""
    several = case.above(Kind.PARALLEL_INTERLEAVE)
    yield Finding(
        id="generator",
        severity=case.severity,
        title="The time is spent in the Python generator",
        detail=(
            f"{evidence(case)} Dataset.from_generator runs Python for each "
            f"element{_python(case)}, one at a time and under Python's global interpreter lock."
        ),
        action=(
            "Let the generator yield only names or indices, and do its work in TensorFlow ops: "
            ".map(load, num_parallel_calls=tf.data.AUTOTUNE). If Python has to do the work, run "
            "it in several processes, such as workers of the tf.data service (Keras: "
            "PyDataset(workers=4, use_multiprocessing=True))."
        ),
        code=(
            "dataset = tf.data.Dataset.from_tensor_slices(names)\n"
            "dataset = dataset.map(load, num_parallel_calls=tf.data.AUTOTUNE)"
        ),
        guide=TRANSFORMATIONS,
    )
    if several is None:
        title, action = "Interleave several generators", "Interleave several of them"
    else:
        cycle = several.parameters.get("cycle_length", "several")
        title = f"Interleave more than {cycle} generators"
        action = "Interleave more of them"
    yield Finding(
        id="generators",
        severity="moderate",
        title=title,
        detail=(
            "Generators that wait for files or a network release Python's global interpreter lock "
            "during the wait."
        ),
        action=(
            f"{action}, each with its share of the data: range(8).interleave(lambda n: "
            "from_generator(g, args=(n,), ...), cycle_length=8, num_parallel_calls=8), with as "
            "many threads in the pool. Generators that compute do not gain from this."
        ),
        code=(
            "dataset = tf.data.Dataset.range(8).interleave(\n"
            "    lambda n: tf.data.Dataset.from_generator(\n"
            "        generator, args=(n,), output_signature=signature),\n"
            f"    cycle_length=8, num_parallel_calls=8, deterministic=False)\n{private_pool(8)}"
        ),
        guide=DATASET.section("from_generator"),
    )


def _python(case: Case) -> str:
    spent = case.facts.python_ps
    return f", {duration(spent)} on this host during the recording" if spent else ""


@of_kinds(Kind.REMOTE)
def remote(case: Case) -> Iterator[Finding]:
    """Sources on other machines."""
    waited = duration(case.per_call(case.work.held_ps))
    yield Finding(
        id="remote_source",
        severity=case.severity,
        title=f"{case.type} waits for another machine",
        detail=f"{evidence(case)} This host waits {waited} for it each time.",
        action=(
            "Profile the machine that serves the data, place it near this one, and request several "
            "elements at a time."
        ),
        guide=SOURCES,
    )


SOURCE_RULES: tuple[StageRule, ...] = (
    interleave_parallel, interleave_small_inputs, reader, reader_sharded,
    reader_cached, generator, remote,
)  # fmt: skip
