"""The names of input pipeline events: their stage, and whether they wait."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import IntEnum

from tbprof.analysis.vocabulary.name_families import remembered
from tbprof.analysis.vocabulary.op_names import OpCategory, copy_type, parse_op_name
from tbprof.base.lazy import regex

ITERATOR = "Iterator::"


class InputCategory(IntEnum):
    """The kind of work that an input op does."""

    ENQUEUE = 0
    DEMANDED_READ = 1
    ADVANCED_READ = 2
    PREPROCESSING = 3
    UNKNOWN = 4

    @property
    def label(self) -> str:
        """The category as tables show it."""
        return _LABELS[self]


_LABELS = ("Enqueue", "Demanded file read", "Advanced file read", "Preprocessing", "Unknown")
_STAGES = {
    "enqueue": InputCategory.ENQUEUE,
    "read": InputCategory.DEMANDED_READ,
    "preprocessing": InputCategory.PREPROCESSING,
}

# The index among several inputs, and the version of an op: `ParallelInterleaveV4[3]`, `SqlDataset`.
_INDEX = regex(r"\[\d*\]\Z")
_NUMBERED = regex(r"([^\[]*)(?:\[\d*\])+")
_VERSION = regex(r"(?:Dataset)?(?:V\d+)?(?:Impl)?\Z")

# Names below are in lower case and without version. Source: the dataset kernels of TensorFlow
# (tensorflow/core/kernels/data) and, for those that it does not have, TensorFlow I/O.
_READERS = frozenset({
    "arrow", "avro", "csv", "feather", "hdf5", "json", "libsvm", "lmdb", "load", "matchingfiles",
    "orc", "parquet", "riegeli", "snapshotchunk", "sql", "sstable", "textline",
})  # fmt: skip
_READER_ENDINGS = ("record", "recordio", "reader")
_CACHES = frozenset({
    "cache", "filecache", "memorycache", "snapshot",
    "filereader", "filewriter", "memoryreader", "memorywriter",
})  # fmt: skip
_INTERLEAVES = frozenset({"interleave", "parallelinterleave", "legacyparallelinterleave"})
# Stages whose several inputs are distinguished by number; numbers of other stages count copies.
COMBINING = frozenset({
    "zip", "concatenate", "directedinterleave", "weightedflatmap", "choosefastest",
    "choosefastestbranch",
})  # fmt: skip
# Stages that return what their own threads produced: the caller waits in them.
_BUFFERED = frozenset({
    "prefetch", "parallelmap", "parallelbatch", "parallelfilter", "parallelinterleave",
    "legacyparallelinterleave", "mapandbatch", "numamapandbatch", "parseexample", "dataservice",
})  # fmt: skip
# Each device of a strategy has an iterator that fetches what the host's pipeline produced.
_DEVICE_PARTS = frozenset({"root", "prefetch", "generator"})

# Requests of a program for its next batch: tf.data, PyTorch's DataLoader, Grain.
_GET_NEXT = regex(
    r"IteratorGetNext.*::DoCompute"
    r"|\$(?:dataloader|data_loader)\.py:\d+ __next__|enumerate\(DataLoader\).*|grain[.:].*",
    re.DOTALL,
)
_HOST_TO_DEVICE = regex(
    r"DevicePut(?:WithSharding)?|BatchedDevicePut|shard_args|tpu::System::TransferToDevice"
    r"|H2D Dispatch"
    r"|.*::BufferFromHostBuffer.*"
)
_FETCHES = regex(r"IteratorGetNext|MultiDeviceIterator|OptionalGetValue")
_INFEED = regex(r".*TransferToInfeed.*")


@remembered
def parts_of(iterator: str) -> tuple[str, ...]:
    """The stages in an iterator's name, outermost first, in lower case and without versions.

    "Iterator::Root::ParallelInterleaveV4[2]::TFRecord" -> "root", "parallelinterleave", "tfrecord"
    """
    parts = iterator[len(ITERATOR) :].split("::")
    return tuple(_VERSION.sub("", _INDEX.sub("", part), count=1).lower() for part in parts)


def stage_name(iterator: str) -> str:
    """The name of an iterator's stage: the name without the numbers of copies.

    `interleave` makes a copy of a stage for each input, `repeat` one for each repetition.

    "Iterator::Zip[1]::Interleave[7]::TFRecord" -> "Iterator::Zip[1]::Interleave::TFRecord"
    """
    return "::".join(map(_without_copy, iterator.split("::")))


def _without_copy(part: str) -> str:
    numbered = _NUMBERED.fullmatch(part)
    is_copy = numbered and _VERSION.sub("", numbered[1], count=1).lower() not in COMBINING
    return numbered[1] if numbered and is_copy else part


def is_reader(part: str) -> bool:
    """Whether a stage reads files."""
    return part in _READERS or (part.endswith(_READER_ENDINGS) and part not in _CACHES)


def is_buffered(parts: Sequence[str]) -> bool:
    """Whether the last stage's own time is a wait for its buffer, or for another pipeline."""
    return parts[-1] in _BUFFERED or is_device_iterator(parts)


def is_device_iterator(parts: Sequence[str]) -> bool:
    """Whether the last stage fetches a device's data from the host's pipeline."""
    return parts[-1] == "generator" and _DEVICE_PARTS.issuperset(parts)


def is_in_advance(part: str) -> bool:
    """Whether a stage makes the stages below it read before their data is requested."""
    return part in _BUFFERED or part in _CACHES or part in _INTERLEAVES


def categories(iterators: Iterable[str]) -> list[InputCategory]:
    """The category of each iterator, given all iterators of a host.

    A reader is an advanced read if a stage that it feeds reads ahead, caches, or interleaves. So
    are caches, and stages that prefetch or interleave what a reader below them reads; all other
    stages preprocess. Source: the categories of the TensorFlow profiler guide.
    """
    all_parts = [parts_of(name) for name in iterators]
    reading = {
        parts[:length]
        for parts in all_parts
        if is_reader(parts[-1])
        for length in range(1, len(parts))
    }
    return [_category(parts, parts in reading) for parts in all_parts]


def _category(parts: tuple[str, ...], feeds_on_reader: bool) -> InputCategory:
    last = parts[-1]
    if is_reader(last):
        ahead = any(is_in_advance(part) for part in parts[:-1])
        return InputCategory.ADVANCED_READ if ahead else InputCategory.DEMANDED_READ
    reads_ahead = last == "prefetch" or last in _INTERLEAVES
    if last in _CACHES or (reads_ahead and feeds_on_reader):
        return InputCategory.ADVANCED_READ
    return InputCategory.PREPROCESSING


def stage_category(text: str) -> InputCategory:
    """The category that an instrumented stage states."""
    return _STAGES.get(text.lower(), InputCategory.UNKNOWN)


def op_above(iterator: str) -> str:
    """The name of the stage that an iterator feeds, whose worker threads call the iterator."""
    return without_index(iterator.rpartition("::")[0])


def without_index(iterator: str) -> str:
    """The name of an iterator without the index among several inputs or repetitions."""
    return _INDEX.sub("", iterator)


def is_iterator(event: str) -> bool:
    """Whether an event is a call of an iterator."""
    return event.startswith(ITERATOR)


def is_enqueue(event: str) -> bool:
    """Whether an event transfers data to a device: an infeed, or a host-to-device copy."""
    return (
        copy_type(event) == "MemcpyHToD"
        or _HOST_TO_DEVICE.fullmatch(event) is not None
        or is_infeed(event)
    )


def is_infeed(event: str) -> bool:
    """Whether an event fills the infeed of a device, whose own events show when it waits."""
    if "Infeed" not in event:
        return False
    if _INFEED.fullmatch(event):
        return True
    op = parse_op_name(event)
    return op.category == OpCategory.TENSORFLOW and op.type.startswith("InfeedEnqueue")


def is_get_next(event: str) -> bool:
    """Whether an event is a request for the next batch, from tf.data or another loader."""
    return _GET_NEXT.fullmatch(event) is not None


def fetches_batch(op: str) -> bool:
    """Whether an op of this name or type fetches a batch, so that its time is not computation."""
    return _FETCHES.search(op) is not None


def is_producer(event: str) -> bool:
    """Whether an event is work of a stage's own thread, such as "MapAndBatchProduce"."""
    kind = event.removesuffix("Produce")
    return kind != event and kind.lower() in _BUFFERED


def is_consumer(event: str) -> bool:
    """Whether a stage takes what its own threads produced, as in "PrefetchConsume"."""
    kind = event.removesuffix("Consume")
    return kind != event and kind.lower() in _BUFFERED


def is_python_function(event: str) -> bool:
    """Whether an event runs Python inside the graph, which only one thread can do at a time."""
    return parse_op_name(event).type in ("PyFunc", "PyFuncStateless", "EagerPyFunc")
