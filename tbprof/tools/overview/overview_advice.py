"""The overview's recommendations: findings, and the statements that scripts read."""

from __future__ import annotations

from tbprof.advice.bottlenecks import DEVICE, HOST, find_bottlenecks
from tbprof.advice.evidence import Evidence
from tbprof.advice.finding import Finding
from tbprof.advice.guides import DATA_ANALYSIS_GUIDE, DATA_GUIDE, GPU_GUIDE, PROFILER_GUIDE, Guide
from tbprof.advice.rules.steps.findings_input import is_transfer
from tbprof.analysis.job.idle_shares import callbacks_as_runtime
from tbprof.tools import TOOLS
from tbprof.tools.model.datatable import Table, number, text

_HEADINGS = {
    "faq": "Tool troubleshooting / FAQ",
    "host": "Next tools to use for reducing the input time",
    "device": "Next tools to use for reducing the time of computation",
    "doc": "Other useful resources",
}


def findings_table(findings: list[Finding]) -> Table:
    """One row per finding, in the order of the list; gains are null if unknown."""
    labels = {tool.name: tool.label for tool in TOOLS}
    next_pages = [finding.next_page or finding.evidence for finding in findings]
    return Table(
        (
            text("id", "Id", [finding.id for finding in findings]),
            text("severity", "Severity", [finding.severity for finding in findings]),
            text("title", "Finding", [finding.title for finding in findings]),
            text("detail", "Detail", [finding.detail for finding in findings]),
            number("value", "Value", [finding.value for finding in findings]),
            text("unit", "Unit", [finding.unit for finding in findings]),
            number(
                "threshold",
                "Threshold",
                [finding.threshold for finding in findings],
            ),
            number(
                "gain_ms",
                "Gain per step, at most (ms)",
                [_known(finding.gain_ms) for finding in findings],
            ),
            number(
                "gain_ratio",
                "Gain, part of the step",
                [_known(finding.gain_ratio) for finding in findings],
            ),
            text("action", "What to do", [finding.action for finding in findings]),
            text("tool", "Next tool", [page.tool for page in next_pages]),
            text(
                "tool_label",
                "Next tool's name",
                [labels[page.tool] for page in next_pages],
            ),
            text("tool_query", "Next at", [page.query for page in next_pages]),
            text("evidence_tool", "Evidence in", [finding.evidence.tool for finding in findings]),
            text("evidence_query", "Evidence at", [finding.evidence.query for finding in findings]),
            text("guide_title", "Guide", [finding.guide.title for finding in findings]),
            text("guide_url", "Guide's address", [finding.guide.url for finding in findings]),
        )
    )


def _known(value: float | None) -> float:
    return float("nan") if value is None else value


def recommendation_table(evidence: Evidence) -> Table:
    """Tips by kind, and a statement about each possible bottleneck, on every platform."""
    tips = [*_tips(evidence)]
    bottlenecks = find_bottlenecks(
        evidence.means,
        evidence.inputs,
        is_tpu=evidence.platform == "TPU",
        idle=callbacks_as_runtime(evidence.idle, evidence.callbacks),
        is_transfer=is_transfer(evidence),
    )
    other_side = {HOST: "device", DEVICE: "host"}.get(bottlenecks.input.level, "")
    return Table(
        (
            text("tip_type", "tip_type", [kind for kind, _ in tips]),
            text("link", "link", [link for _, link in tips]),
            text("description", "description", [_HEADINGS[kind] for kind, _ in tips]),
        ),
        {
            "bottleneck": bottlenecks.input.level,
            "statement": bottlenecks.input.statement,
            "output_bottleneck": bottlenecks.output.level,
            "output_statement": bottlenecks.output.statement,
            "kernel_launch_bottleneck": bottlenecks.kernel_launch.level,
            "kernel_launch_statement": bottlenecks.kernel_launch.statement,
            "all_other_bottleneck": bottlenecks.other.level,
            "all_other_statement": bottlenecks.other.statement,
            "device_collectives_bottleneck": bottlenecks.collectives.level,
            "device_collectives_statement": bottlenecks.collectives.statement,
            "precision_statement": bottlenecks.precision,
            "non_bottleneck_tip_types": other_side,
        },
    )


def _tips(evidence: Evidence) -> list[tuple[str, str]]:
    """(kind, text with links) of tips that fit what the program ran on."""
    tips = [
        ("faq", _anchor(PROFILER_GUIDE)),
        ("host", "input_pipeline_analyzer: which stage of the input takes longest"),
        ("host", "trace_viewer: what the threads of the host do, step by step"),
    ]
    if evidence.platform == "CPU":
        tips += [
            ("device", "framework_op_stats: which ops take longest on the CPU"),
            ("device", "trace_viewer: how well they keep the CPU's threads at work"),
        ]
    else:
        what = "TPU core" if evidence.platform == "TPU" else "GPU"
        tips += [
            ("device", f"framework_op_stats: which ops take longest on the {what}"),
            ("device", f"trace_viewer: what each {what} does, and where it waits"),
        ]
    tips += [("doc", _anchor(DATA_GUIDE)), ("doc", _anchor(DATA_ANALYSIS_GUIDE))]
    if evidence.platform == "GPU":
        tips.append(("doc", _anchor(GPU_GUIDE)))
    return tips


def _anchor(guide: Guide) -> str:
    return f'<a href="{guide.url}" target="_blank" rel="noreferrer">{guide.title}</a>'
