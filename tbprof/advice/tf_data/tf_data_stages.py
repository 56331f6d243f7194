"""The kinds of tf.data stages, on which advice depends."""

from __future__ import annotations

from enum import Enum

from tbprof.analysis.vocabulary.input_names import COMBINING, is_reader, parts_of
from tbprof.base.lazy import regex


class Kind(Enum):
    """A kind of stage; the values are the names for scripts."""

    MAP = "map"  # one element at a time
    PARALLEL_MAP = "parallel_map"
    MAP_AND_BATCH = "map_and_batch"
    INTERLEAVE = "interleave"  # one input at a time
    PARALLEL_INTERLEAVE = "parallel_interleave"
    BATCH = "batch"
    PARALLEL_BATCH = "parallel_batch"
    SHUFFLE = "shuffle"
    CACHE = "cache"
    PREFETCH = "prefetch"
    FILTER = "filter"
    FLAT_MAP = "flat_map"
    UNBATCH = "unbatch"
    COMBINE = "combine"  # several datasets: zip, concatenate, samples
    REPEAT = "repeat"
    WINDOW = "window"  # a dataset for each window or group
    GENERATOR = "generator"  # Python
    READER = "reader"  # of files
    MEMORY = "memory"  # a source of tensors in memory
    DATA_SERVICE = "data_service"
    REMOTE = "remote"  # another source on other machines
    DEVICE = "device"  # an iterator that fetches for a device
    OTHER = "other"


# Names in lower case, without version. Source: dataset kernels of TensorFlow
# (tensorflow/core/kernels/data), and for remote sources the profile plugin 2.19.
_KINDS: dict[str, Kind] = {
    name: kind
    for kind, names in {
        Kind.MAP: ("map", "scan"),
        Kind.PARALLEL_MAP: ("parallelmap", "parseexample", "parallelmapandfilter"),
        Kind.MAP_AND_BATCH: ("mapandbatch", "numamapandbatch"),
        Kind.INTERLEAVE: ("interleave",),
        Kind.PARALLEL_INTERLEAVE: ("parallelinterleave", "legacyparallelinterleave"),
        Kind.BATCH: ("batch", "paddedbatch", "densetosparsebatch", "densetoraggedbatch"),
        Kind.PARALLEL_BATCH: ("parallelbatch",),
        Kind.SHUFFLE: ("shuffle", "shuffleandrepeat", "globalshuffle"),
        Kind.CACHE: (
            "cache", "memorycache", "filecache", "memoryreader", "memorywriter", "filereader",
            "filewriter", "snapshot",
        ),
        Kind.PREFETCH: ("prefetch",),
        Kind.FILTER: ("filter", "parallelfilter", "filterbylastcomponent", "takewhile"),
        Kind.FLAT_MAP: ("flatmap",),
        Kind.UNBATCH: ("unbatch", "rebatch", "legacyrebatch"),
        Kind.COMBINE: COMBINING,
        Kind.REPEAT: ("repeat", "foreverrepeat", "finiterepeat"),
        Kind.WINDOW: ("window", "windowop", "slidingwindow", "groupbywindow", "groupbyreducer"),
        Kind.GENERATOR: ("generator",),
        Kind.MEMORY: (
            "tensor", "fromtensor", "tensorslice", "sparsetensorslice", "range", "random", "list",
        ),
        Kind.DATA_SERVICE: ("dataservice",),
        Kind.REMOTE: (
            "courier", "datasetsamplegame", "guzzlerdataguzzlerremote", "reverb", "reverbepisode",
            "sleepwalkremote", "spanner",
        ),
    }.items()
    for name in names
}  # fmt: skip

# The number of one of several equal inputs: `ForeverRepeat[3]`.
_INDEX = regex(r"\[\d*\](?=::|\Z)")
_VERSION = regex(r"V\d+\Z")

# Stages that work ahead, in their own threads or on other machines.
BUFFERED = frozenset({
    Kind.PARALLEL_MAP, Kind.MAP_AND_BATCH, Kind.PARALLEL_INTERLEAVE, Kind.PARALLEL_BATCH,
    Kind.PREFETCH, Kind.DATA_SERVICE,
})  # fmt: skip
MAPS = frozenset({Kind.MAP, Kind.PARALLEL_MAP, Kind.MAP_AND_BATCH})
INTERLEAVES = frozenset({Kind.INTERLEAVE, Kind.PARALLEL_INTERLEAVE})
BATCHES = frozenset({Kind.BATCH, Kind.PARALLEL_BATCH, Kind.MAP_AND_BATCH})


def kind_of(long_name: str, *, is_device: bool = False) -> Kind:
    """The kind of the last stage of an iterator's name, of a device or host pipeline."""
    parts = parts_of(long_name)
    if is_device:
        return Kind.DEVICE
    kind = _KINDS.get(parts[-1])
    if kind is not None:
        return kind
    return Kind.READER if is_reader(parts[-1]) else Kind.OTHER


def shown_type(type_name: str) -> str:
    """The stage's name in programs, without version and input number: "ParallelMap"."""
    return _VERSION.sub("", _INDEX.sub("", type_name))
