"""What the names of iterators say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tbprof.analysis.vocabulary.input_names import (
    InputCategory,
    categories,
    is_buffered,
    is_consumer,
    is_producer,
    parts_of,
    stage_name,
)

_, DEMANDED, ADVANCED, PREPROCESSING, _ = InputCategory


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Iterator::A[1]::B[]::C[22]", "Iterator::A::B::C"),
        ("Iterator::A[1][0]::B", "Iterator::A::B"),
        ("Iterator::A[x]", "Iterator::A[x]"),
        ("Iterator::A[", "Iterator::A["),
        ("Iterator::Root::Zip[1]::Repeat[7]::Map", "Iterator::Root::Zip[1]::Repeat::Map"),
        ("Iterator::ConcatenateV2[0]::Map[0]", "Iterator::ConcatenateV2[0]::Map"),
        ("", ""),
    ],
)
def test_a_stage_is_named_without_the_numbers_of_copies(name: str, expected: str):
    """But with those of the inputs that a stage joins: they are stages of their own."""
    assert stage_name(name) == expected


def test_names_of_any_length_are_read_in_linear_time():
    name = "Iterator::" + "[1]" * 100_000 + "x::" + "[" * 100_000
    assert stage_name(name) == name


def category(name: str, *others: str) -> InputCategory:
    return categories([name, *others])[0]


@pytest.mark.parametrize(
    "reader",
    [
        "TFRecord", "TFRecordV2", "TFRecordDatasetV2", "TextLine", "TextLineV2", "ArrayRecord",
        "FixedLengthRecord", "FixedLengthRecordV2", "SSTable", "RecordIO", "Parquet", "Csv", "CSV",
        "CSVDatasetV2", "LMDB", "SqlDataset", "MatchingFiles", "AvroRecord", "Riegeli", "Load",
        "SnapshotDatasetReader",
    ],
)  # fmt: skip
def test_readers_of_any_format_and_version_read_on_demand_or_in_advance(reader):
    assert category(f"Iterator::Root::FlatMap[0]::{reader}") == DEMANDED
    assert category(f"Iterator::{reader}") == DEMANDED
    assert category(f"Iterator::Root::Prefetch::FlatMap[0]::{reader}") == ADVANCED


@pytest.mark.parametrize(
    "stage",
    [
        "Prefetch", "Interleave", "InterleaveV2", "ParallelInterleaveV4[3]", "ParallelInterleave",
        "LegacyParallelInterleaveV2[0]", "MapAndBatch", "NumaMapAndBatch", "ParallelMap",
        "ParallelMapV2", "ParallelBatch", "ParallelFilter", "MemoryCacheImpl", "FileCacheImpl",
        "CacheV2", "MemoryReader", "MemoryWriter", "DataServiceV4",
    ],
)  # fmt: skip
def test_what_is_read_below_these_is_read_in_advance(stage):
    assert category(f"Iterator::Root::{stage}::TFRecord") == ADVANCED
    assert category(f"Iterator::Root::{stage}::Shuffle::FlatMap[7]::TFRecordV2") == ADVANCED


@pytest.mark.parametrize("stage", ["Map", "BatchV2", "Shuffle", "FlatMap[0]", "MyPrefetchLike"])
def test_what_is_read_below_others_is_read_on_demand(stage):
    assert category(f"Iterator::Root::{stage}::TFRecord") == DEMANDED


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Iterator::Root", PREPROCESSING),
        ("Iterator::Root::Map", PREPROCESSING),
        ("Iterator::Root::ParallelMapV2", PREPROCESSING),
        ("Iterator::Root::MapAndBatch", PREPROCESSING),
        ("Iterator::Root::FlatMap", PREPROCESSING),
        ("Iterator::Root::TFRecordLike", PREPROCESSING),
        ("Iterator::Root::MemoryCache", ADVANCED),
        ("Iterator::Root::MemoryCacheImpl", ADVANCED),
        ("Iterator::Root::FileCache", ADVANCED),
        ("Iterator::Root::Snapshot", ADVANCED),
        ("Iterator::Root::Prefetch", PREPROCESSING),
        ("Iterator::", PREPROCESSING),
        ("Iterator::Root::", PREPROCESSING),
        ("Iterator::Root::V2", PREPROCESSING),
    ],
)
def test_stages_that_read_no_file_themselves(name, expected):
    assert category(name) == expected


def test_prefetching_and_interleaving_are_in_advance_where_a_file_is_read_below():
    below = "Iterator::Root::Prefetch::Interleave[1]::FlatMap[0]::TFRecord"
    assert category("Iterator::Root::Prefetch", below) == ADVANCED
    assert category("Iterator::Root::Prefetch::Interleave", below) == ADVANCED
    assert category("Iterator::Root::Prefetch::Interleave[1]::FlatMap", below) == PREPROCESSING
    assert category("Iterator::Other::Prefetch", below) == PREPROCESSING


def test_the_stages_of_a_name():
    name = "Iterator::Root::ParallelInterleaveV4[12]::MemoryCacheImpl::SqlDataset"
    assert parts_of(name) == ("root", "parallelinterleave", "memorycache", "sql")


def test_marks_of_elements_are_those_of_stages_that_work_ahead():
    assert is_producer("ParallelMapProduce")
    assert is_consumer("ParallelMapConsume")
    assert not is_consumer("ParallelMapProduce")
    assert not is_consumer("MapConsume")
    assert not is_consumer("Consume")


def test_only_stages_with_threads_of_their_own_and_devices_make_their_caller_wait():
    assert is_buffered(parts_of("Iterator::Root::Prefetch"))
    assert is_buffered(parts_of("Iterator::Root::ParallelMapV2"))
    assert is_buffered(parts_of("Iterator::Root::ParseExample"))
    assert is_buffered(parts_of("Iterator::Prefetch::Generator"))
    assert is_buffered(parts_of("Iterator::Root::Prefetch::Generator"))
    assert not is_buffered(parts_of("Iterator::Root::Prefetch::FlatMap[0]::Generator"))
    assert not is_buffered(parts_of("Iterator::Root::Interleave"))
    assert not is_buffered(parts_of("Iterator::Root::Map"))


@given(st.text(max_size=60))
def test_any_name_has_a_category(name):
    assert categories([f"Iterator::{name}"])[0] in InputCategory
