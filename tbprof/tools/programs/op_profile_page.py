"""What our page of op_profile shows: instructions in columns, from which it makes its trees."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.bounds.causes import HOST_LINK, INTERCONNECT
from tbprof.analysis.bounds.op_causes import find_causes
from tbprof.analysis.bounds.op_work import above_roof, rates_of, work_of
from tbprof.analysis.bounds.wasted_time import wasted_ps
from tbprof.analysis.devices.peaks import HBM, Peaks
from tbprof.analysis.programs.program_ops import UNKNOWN, ProgramOps
from tbprof.base.errors import BadRequest
from tbprof.base.texts import NumberedTexts, cut, whole_number
from tbprof.base.values import known
from tbprof.tools.model.datatable import Table, boolean, number, text
from tbprof.tools.programs.op_profile_tree import program_label
from tbprof.tools.programs.op_texts import cost_notes

# An answer has so many instructions: the first one the longest, and sums of the others.
MOST_ROWS = 3000
_ALL = "all"
# Longer texts are cut: those of details are longer, and the trace has them whole.
_MOST_TEXT, _MOST_DETAIL = 300, 20_000
_LINKED = {
    HOST_LINK: "it waits for the link between device and host, whose peak is not known",
    INTERCONNECT: "it waits for other devices and what connects them, whose peak is not known",
}
_MOST_KERNELS, _MOST_LISTED = 8, 200

_TEXTS = ("name", "category", "opcode", "scope", "source", "dtype", "program_id", "core")
_SUMS = (
    "occurrences", "kernels", "total_ps", "self_ps", "span_ps", "flops", "model_flops",
    "transcendentals", "bytes_accessed", "hbm_bytes",
)  # fmt: skip


class ProfilePage:
    """The instructions of a run with their rates."""

    def __init__(self, ops: ProgramOps, peaks: Peaks, params: Mapping[str, str]) -> None:
        self._ops = ops
        self._peaks = peaks
        self._params = params
        work = work_of(ops, peaks)
        rates = rates_of(work, peaks)
        self._rates = rates
        self._roof = work.roof
        self._wasted = wasted_ps(ops, rates)
        self._causes = find_causes(ops, work, rates, peaks)
        self._shares = {
            "flop_share": rates.flop_share,
            "hbm_share": rates.memory_share[HBM],
            "efficiency": rates.efficiency,
        }
        self._labels = [
            program_label(*names)
            for names in zip(ops.program_id, ops.program, ops.core, strict=True)
        ]

    def columns(self) -> dict[str, object]:
        """All that the page shows at first, all rows, or the details of one row."""
        if row := self._params.get("row", ""):
            return self._details(_row_number(row, len(self._ops.name)))
        rows = self._params.get("rows", "")
        order = np.argsort(-self._ops.self_ps, kind="stable")
        if rows == "":
            return self._page(order[:MOST_ROWS], order[MOST_ROWS:])
        if rows == _ALL:
            return self._page(order, order[:0])
        begin = whole_number(rows, 9)
        if begin is None:
            raise BadRequest(f"there are no rows {rows[:40]!r}", "rows is empty, a number or all")
        return self._page(order[begin : begin + MOST_ROWS], order[:0])

    def _page(self, shown: NDArray[np.int64], others: NDArray[np.int64]) -> dict[str, object]:
        """Rows, and sums of others."""
        ops = self._ops
        rest = list(self._rest(others))
        texts = NumberedTexts()
        pool = {
            "program": self._labels,
            "group": [
                group or name for group, name in zip(ops.deduplicated_name, ops.name, strict=True)
            ],
            "roof": self._roof,
            "bound_by": self._rates.bound_by,
            "cause": self._causes.names,
            "note": self._notes(),
            **{name: getattr(ops, name) for name in _TEXTS},
        }
        taken = shown.tolist()
        columns: dict[str, object] = {
            name: texts.numbers(
                cut(text, _MOST_TEXT)
                for text in (
                    *(values[row] for row in taken),
                    *(sums.get(name, "") for sums in rest),
                )
            )
            for name, values in pool.items()
        }
        columns["row"] = [*taken, *(UNKNOWN for _ in rest)]
        columns["count"] = [*(1 for _ in taken), *(sums["count"] for sums in rest)]
        for name, values in self._numbers().items():
            columns[name] = np.concatenate([values[shown], [sums[name] for sums in rest]])
        for name, shares in self._shares.items():
            filled = np.append(shares[shown], np.full(len(rest), np.nan))
            columns[name] = filled.astype(np.float32)
        for name in ("is_computed", "is_product", "has_inner"):
            columns[name] = np.append(getattr(ops, name)[shown], np.zeros(len(rest), bool))
        kernels = self._kernels(taken, texts)
        return {
            "device_type": ops.device_type,
            "devices": ops.devices,
            "sparse_cores": ops.sparse_cores,
            "window_ps": ops.window_ps,
            "idle_ps": ops.idle_ps,
            "sparse_core_idle_ps": ops.sparse_core_idle_ps,
            "peaks": self._peaks_json(),
            "instructions": len(ops.name),
            "rows": columns,
            "kernels": kernels,
            "texts": texts.all(),
        }

    def _numbers(self) -> dict[str, NDArray[np.int64]]:
        numbers = {name: getattr(self._ops, name) for name in _SUMS}
        flop_ps = self._shares["flop_share"] * self._ops.span_ps
        is_known = np.isfinite(flop_ps)
        peak_ps = np.where(is_known, np.rint(np.where(is_known, flop_ps, 0)), UNKNOWN)
        # How long the operations take at the peak of their type: groups add it up.
        saved_ps = self._causes.saved_ps
        return {
            **numbers,
            "wasted_ps": self._wasted,
            "at_peak_ps": peak_ps.astype(np.int64),
            "could_save_ps": np.where(saved_ps > 0, saved_ps, UNKNOWN),
        }

    def _rest(self, rows: NDArray[np.int64]) -> Iterator[dict[str, Any]]:
        """Sums of the rows that are left out, by program and category."""
        ops = self._ops
        groups: dict[tuple[str, str], list[int]] = {}
        for row in rows.tolist():
            groups.setdefault((self._labels[row], ops.category[row]), []).append(row)
        numbers = self._numbers()
        for (label, category), of_group in groups.items():
            first, members = of_group[0], np.array(of_group)
            members = (
                members[~ops.has_inner[members]] if not ops.has_inner[members].all() else members
            )
            sums = {name: _known_sum(values[members]) for name, values in numbers.items()}
            own = ("occurrences", "kernels", "total_ps", "self_ps")
            sums |= {name: int(numbers[name][of_group].sum()) for name in own}
            yield {
                **sums, "program": label, "category": category, "count": len(of_group),
                "program_id": ops.program_id[first], "core": ops.core[first],
            }  # fmt: skip

    def _notes(self) -> list[str]:
        """Why the cost of a row is not known, or why it is above a peak."""
        above = above_roof(self._rates, self._ops.is_computed)
        linked = [_LINKED.get(bound, "") for bound in self._rates.bound_by]
        notes = zip(linked, cost_notes(self._ops), above, strict=True)
        return [link or unknown or over for link, unknown, over in notes]

    def _kernels(self, rows: Sequence[int], texts: NumberedTexts) -> dict[str, object]:
        """The longest kernels of each row, by its place in the page."""
        ops = self._ops
        first = ops.first_kernel.tolist()
        pairs = [
            (place, kernel)
            for place, row in enumerate(rows)
            for kernel in range(first[row], min(first[row] + _MOST_KERNELS, first[row + 1]))
        ]
        of_row = [kernel for _, kernel in pairs]
        return {
            "place": [place for place, _ in pairs],
            "name": texts.numbers(cut(ops.kernel_name[kernel], _MOST_TEXT) for kernel in of_row),
            "occurrences": ops.kernel_occurrences[of_row],
            "total_ps": ops.kernel_total_ps[of_row],
        }

    def _peaks_json(self) -> dict[str, object]:
        peaks = self._peaks
        flops = zip(peaks.dtype, peaks.gflops.tolist(), peaks.flop_source, strict=True)
        memories = zip(peaks.memory, peaks.gbytes.tolist(), peaks.memory_source, strict=True)
        return {
            "flops": [
                {"dtype": dtype, "gflops": peak, "source": source} for dtype, peak, source in flops
            ],
            "memories": [
                {"memory": memory, "gbytes": peak, "source": source}
                for memory, peak, source in memories
            ],
        }

    def _details(self, row: int) -> dict[str, object]:
        ops = self._ops
        own_kernels = slice(ops.first_kernel[row], ops.first_kernel[row + 1])
        kernels = list(
            zip(
                ops.kernel_name[own_kernels], ops.kernel_occurrences[own_kernels].tolist(),
                ops.kernel_total_ps[own_kernels].tolist(), strict=True,
            )
        )  # fmt: skip
        stack = int(ops.stack[row])
        return {
            "row": row,
            "program_id": ops.program_id[row],
            "name": cut(ops.name[row], _MOST_DETAIL),
            "result": cut(ops.result[row], _MOST_DETAIL),
            "operands": cut(ops.operands[row], _MOST_DETAIL),
            "scope": cut(ops.scope[row], _MOST_DETAIL),
            "source": cut(ops.source[row], _MOST_DETAIL),
            "stack": cut(ops.stacks[stack], _MOST_DETAIL) if stack >= 0 else "",
            "deduplicated_name": cut(ops.deduplicated_name[row], _MOST_DETAIL),
            "kernel_names": len(kernels),
            "kernels": [
                {"name": cut(name, _MOST_DETAIL), "occurrences": count, "total_ps": total}
                for name, count, total in kernels[:_MOST_LISTED]
            ],
        }

    def table(self) -> Table:
        """All instructions, by wasted time, then by self time; ties by name and program."""
        ops = self._ops
        order = sorted(
            range(len(ops.name)),
            key=lambda row: (
                -int(self._wasted[row]), -int(ops.self_ps[row]), ops.name[row], self._labels[row],
            ),
        )  # fmt: skip
        ordered = np.array(order, np.int64)
        notes = self._notes()
        saved_ps = self._numbers()["could_save_ps"]

        def texts(values: Sequence[str]) -> list[str]:
            return [values[row] for row in order]

        return Table(
            (
                number("rank", "Rank", np.arange(1, ordered.size + 1)),
                text("program", "Program", texts(self._labels)),
                text("program_id", "Program id", texts(ops.program_id)),
                text("category", "Category", texts(ops.category)),
                text("operation", "Op", texts(ops.name)),
                text("deduplicated_name", "Equal to", texts(ops.deduplicated_name)),
                text("scope", "Framework op", texts(ops.scope)),
                text("source", "Source", texts(ops.source)),
                text("core", "Core", texts(ops.core)),
                number("occurrences", "Executions", ops.occurrences[ordered]),
                number("kernels", "Kernels", ops.kernels[ordered]),
                number("total_time", "Total time (us)", ops.total_ps[ordered] / 1e6),
                number("self_time", "Self time (us)", ops.self_ps[ordered] / 1e6),
                number("span_time", "Time of its work (us)", ops.span_ps[ordered] / 1e6),
                number("wasted_time", "Wasted time (us)", known(self._wasted[ordered]) / 1e6),
                number("flops", "FLOPs", known(ops.flops[ordered])),
                number("model_flops", "Model FLOPs", known(ops.model_flops[ordered])),
                number("transcendentals", "Transcendentals", known(ops.transcendentals[ordered])),
                number("bytes_accessed", "Bytes accessed", known(ops.bytes_accessed[ordered])),
                number("hbm_bytes", "HBM bytes", known(ops.hbm_bytes[ordered])),
                number("gflops", "GFLOP/s", self._rates.gflops[ordered]),
                number("hbm_gbytes", "HBM GB/s", self._rates.memory_gbytes[HBM][ordered]),
                number("flop_share", "FLOP rate / peak", self._rates.flop_share[ordered]),
                number("hbm_share", "HBM bandwidth / peak", self._shares["hbm_share"][ordered]),
                text("bound_by", "Bound by", texts(self._rates.bound_by)),
                text("cause", "Why slow", texts(self._causes.names)),
                number("could_save", "Could save at most (us)", known(saved_ps[ordered]) / 1e6),
                text("dtype", "Type", texts(ops.dtype)),
                text("roof", "Peak of", texts(self._roof)),
                boolean("is_computed", "Work follows from shapes", ops.is_computed[ordered]),
                text("note", "Note", texts(notes)),
            ),
            {"device_type": ops.device_type},
        )


def _known_sum(values: NDArray[np.int64]) -> int:
    """The sum of what is known, `UNKNOWN` if nothing is."""
    known = values[values >= 0]
    return sum(known.tolist()) if known.size else UNKNOWN


def _row_number(text: str, rows: int) -> int:
    row = whole_number(text, 9)
    if row is None or row >= rows:
        raise BadRequest(f"there is no row {text[:40]!r}", f"rows are 0 to {rows - 1}")
    return row
