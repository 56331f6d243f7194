"""Input ops, ours against xprof's: counts and times agree, categories and waiting do not."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from helpers.payloads import Row, rows
from helpers.tables import records
from parity.oracle import Compare, by
from traces import draw, space_of

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.input.input_ops import find_input_ops
from tbprof.tools.input_pipeline_analyzer import op_table
from tbprof.tools.model.datatable import Table

pytestmark = [pytest.mark.parity, pytest.mark.slow]

TOOL = "input_pipeline_analyzer"
TIMES = ("count", "timeInMs", "selfTimeInMs")
HOST = "/host:CPU"


def theirs(compare: Compare, trace: bytes) -> tuple[dict[str, Row], Mapping[str, str]]:
    """(rows by op, properties) of xprof's table of input ops."""
    answer = compare(trace, tools=(TOOL,)).theirs[TOOL][2]
    return {str(key[0]): row for key, row in by(rows(answer), "opName").items()}, answer["p"]


def ours(trace: bytes) -> tuple[dict[str, Row], Mapping[str, str]]:
    """The same of our table."""
    space = space_of(trace)
    table: Table = op_table(find_input_ops(space, Programs(space)))
    return {row["opName"]: row for row in records(table)}, table.properties


@pytest.mark.parametrize("name", ["gpu_trace", "tensorflow_cpu_training"])
def test_counts_and_times_of_recorded_input_ops_agree(
    compare: Compare, trace_of: Callable[[str], Path], name: str
):
    sample = trace_of(name).read_bytes()
    known, their_sums = theirs(compare, sample)
    found, our_sums = ours(sample)
    # Copies in today's spelling are not known to xprof.
    assert set(found) - set(known) == ({"MemcpyH2D"} if name == "gpu_trace" else set())
    for name, row in known.items():
        for column in TIMES:
            assert found[name][column] == pytest.approx(row[column], abs=1e-6)
        assert found[name]["category"] == row["category"]
    # All waiting is called preprocessing, and what was done in other threads is not there.
    waiting = sum(row["waitTimeInMs"] for row in found.values())
    in_place = sum(
        row["selfTimeInMs"] - row["waitTimeInMs"] for name, row in found.items() if name in known
    )
    assert float(their_sums["preprocessing_us"]) == pytest.approx((waiting + in_place) * 1e3)
    assert float(our_sums["waiting_us"]) == pytest.approx(waiting * 1e3, abs=1e-2)


def drawn(compare: Compare, drawing: str, names: Mapping[str, str]):
    trace = draw({HOST: drawing}, names=names)
    return theirs(compare, trace), ours(trace)


def test_a_wait_for_a_buffer_is_called_preprocessing(compare: Compare):
    drawing = """
        consumer |rrrrrrrr
                 |.pppppp.
        producer |qqqqqqq.
                 |.mmmmm..
    """
    names = {
        "r": "Iterator::Root",
        "p": "Iterator::Root::Prefetch",
        "q": "PrefetchProduce",
        "m": "Iterator::Root::Prefetch::Map",
    }
    (_, known), (found, sums) = drawn(compare, drawing, names)
    assert known["preprocessing_us"] == "13.000"
    # Root 2, the map 5, the producer 2; the consumer waits for 6.
    assert sums["preprocessing_us"] == "9.000"
    assert sums["waiting_us"] == "6.000"
    assert found["Iterator::Root::Prefetch"]["waitTimeInMs"] == pytest.approx(0.006)


def test_categories_go_by_the_ends_of_names(compare: Compare):
    names = {
        "a": "Iterator::Root::ParallelInterleaveV4[0]::TFRecord",
        "b": "Iterator::Root::MapAndBatch::TFRecord",
        "c": "Iterator::Root::TFRecordV2",
        "d": "Iterator::Root::Parquet",
        "e": "Iterator::Root::MemoryCacheImpl",
        "f": "Iterator::Root::Prefetch::TFRecord",
        "g": "Iterator::Root::TextLine",
        "h": "Iterator::Root::Map",
    }
    (known, _), (found, _) = drawn(compare, "t |a.b.c.d.e.f.g.h", names)
    demanded, advanced, other = "Demanded file read", "Advanced file read", "Preprocessing"
    assert {letter: known[name]["category"] for letter, name in names.items()} == {
        "a": demanded, "b": demanded, "c": other, "d": other, "e": other, "f": advanced,
        "g": demanded, "h": other,
    }  # fmt: skip
    assert {letter: found[name]["category"] for letter, name in names.items()} == {
        "a": advanced, "b": advanced, "c": demanded, "d": demanded, "e": advanced, "f": advanced,
        "g": demanded, "h": other,
    }  # fmt: skip


def test_types_that_sound_like_input_are_input_ops(compare: Compare):
    names = {"a": "x/Batch:read", "b": "y:enqueue", "c": "Iterator::Root"}
    (known, _), (found, _) = drawn(compare, "t |aa.bb.c", names)
    assert set(known) == {"x/Batch", "y", "Iterator::Root"}
    assert set(found) == {"Iterator::Root"}


def test_ops_inside_a_stages_function_are_in_no_category(compare: Compare):
    names = {"a": "Iterator::Root::Map", "x": "decode:DecodeJpeg"}
    (known, _), (found, _) = drawn(compare, "t |aaaaaaaa\n  |..xxxx..", names)
    assert known["Iterator::Root::Map"]["selfTimeInMs"] == pytest.approx(0.004)
    assert found["Iterator::Root::Map"]["selfTimeInMs"] == pytest.approx(0.008)
    assert set(known) == set(found)


def test_the_breakdown_is_scaled_where_there_are_enqueues(compare: Compare):
    names = {"e": "e:InfeedEnqueue", "f": "e:InfeedEnqueue", "m": "Iterator::Root::Map"}
    drawing = "one |e.........f\ntwo |mmmm"
    (_, known), (_, sums) = drawn(compare, drawing, names)
    assert (known["enqueue_us"], known["preprocessing_us"]) == ("2.000", "18.000")
    assert (sums["enqueue_us"], sums["preprocessing_us"]) == ("2.000", "4.000")
