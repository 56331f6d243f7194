"""Why a tab or a page is empty: what is installed, what was found, what is wrong with it."""

from __future__ import annotations

import importlib.metadata as metadata
import os
import platform
from collections.abc import Iterator, Sequence
from typing import Literal

import tbprof
from tbprof.analysis.run.outline import Outline
from tbprof.analysis.steps.steps import Steps
from tbprof.base.errors import CUT_HINT, TbprofError
from tbprof.base.process.user_dirs import cache_directory
from tbprof.base.recorder_errors import fix_for
from tbprof.base.records import dataclass
from tbprof.engine.engine import Engine
from tbprof.engine.hosts.kept_parts import PartResult
from tbprof.storage.logdir import Logdir
from tbprof.tools import TOOLS

_PACKAGES = ("numpy", "protobuf", "grpcio", "tensorboard")
# Packages whose TensorBoard plugin is called "profile", too.
_RIVALS = ("xprof", "xprof-nightly", "tensorboard-plugin-profile")
_MOST_RUNS = 5
_MOST_IGNORED = 20


@dataclass(frozen=True, slots=True)
class Check:
    """One check: what it is about, its result, and the fix if something is wrong."""

    kind: Literal["good", "note", "bad"]
    about: str
    text: str
    fix: str = ""


def examine_installation(*, shows_paths: bool = True) -> list[Check]:
    """The installed packages, other profile plugins, and the cache.

    The folder of the cache is only named with `shows_paths`: browsers need not know it.
    """
    versions = f"{tbprof.__version__}, Python {platform.python_version()}"
    checks = [Check("good", "tbprof", versions)]
    for name in _PACKAGES:
        version = _version(name)
        if version:
            checks.append(Check("good", name, version))
        else:
            fix = f"pip install {name}"
            checks.append(Check("bad", name, "is not installed", fix))
    checks.extend(_rival(name, _version(name)) for name in _RIVALS if _version(name))
    checks.append(_cache(shows_paths=shows_paths))
    return checks


def _rival(name: str, version: str) -> Check:
    return Check(
        "note",
        name,
        f"{version} owns TensorBoard's plugin 'profile': the tbprof tab is called 'Profile "
        "(tbprof)'",
        f"pip uninstall {name}, to give the tab 'Profile' to tbprof",
    )


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _cache(*, shows_paths: bool) -> Check:
    place = cache_directory()
    named = str(place) if shows_paths else "its folder"
    existing = next((parent for parent in (place, *place.parents) if parent.exists()), place)
    if os.access(existing, os.W_OK):
        return Check("good", "cache", f"{named} can be written")
    return Check(
        "note",
        "cache",
        f"{named} cannot be written: pages are computed again each time",
        "set TBPROF_CACHE_DIR to a folder that you may write",
    )


def examine_logdir(logdir: Logdir, engine: Engine) -> list[Check]:
    """What was searched and skipped, and the state of the newest runs."""
    try:
        runs = logdir.runs()
    except TbprofError as error:
        return [Check("bad", "logdir", error.message, error.hint)]
    report = logdir.report()
    counts = f"{_count(report.directories, 'folder')}, {_count(report.files, 'file')}"
    searched = f"searched {report.logdir}: {counts}"
    checks: list[Check] = []
    if runs:
        checks.append(Check("good", "logdir", f"{searched}, {_count(len(runs), 'run')}"))
    elif report.ignored and not report.directories and not report.files:
        texts = "; ".join(f"{entry.path}: {entry.reason}" for entry in report.ignored)
        fix = "check the spelling; give a logdir, the folder of a run, or an .xplane.pb file"
        return [Check("bad", "logdir", texts, fix)]
    else:
        checks.append(
            Check(
                "bad",
                "logdir",
                f"{searched}, no plugins/profile/<run>/<host>.xplane.pb",
                "give the folder that the program writes its logs to, or one above it; or record "
                "a profile: see the README, or tbprof capture",
            )
        )
    if report.stopped:
        text = f"the search stopped early: {report.stopped}"
        checks.append(Check("note", "logdir", text, "give a folder further down"))
    checks.extend(
        Check("note", entry.path, f"skipped: {entry.reason}")
        for entry in report.ignored[:_MOST_IGNORED]
    )
    if len(report.ignored) > _MOST_IGNORED:
        more = f"{len(report.ignored) - _MOST_IGNORED:,} more were skipped"
        checks.append(Check("note", "logdir", more))
    for name in list(runs)[:_MOST_RUNS]:
        checks.extend(examine_run(engine, name))
    if len(runs) > _MOST_RUNS:
        text = f"{len(runs) - _MOST_RUNS:,} older runs were not examined"
        fix = "give the folder of one run to examine it"
        checks.append(Check("note", "runs", text, fix))
    return checks


def examine_run(engine: Engine, name: str) -> list[Check]:
    """The state of a run's hosts, which pages are empty, and whether there are steps."""
    try:
        run = engine.run(name)
    except TbprofError as error:
        return [Check("bad", name, error.message, error.hint)]
    if not run.files:
        text = "has no .xplane.pb file; no other files in it are read"
        fix = "record it again, and stop the profiler before the program ends"
        return [Check("bad", name, text, fix)]
    parts = engine.parts(run, "outline", "steps", "environment")
    outlines = {
        host: result if isinstance(result, TbprofError) else result["outline"].value
        for host, result in parts.items()
    }
    good = [outline for outline in outlines.values() if isinstance(outline, Outline)]
    size = sum(file.bytes for file in run.files)
    checks = [
        Check(
            "good" if good else "bad",
            name,
            f"{len(good):,} of {len(run.files):,} hosts can be read, {size / 1e6:,.1f} MB",
            "" if good else "record it again: see the hosts below",
        )
    ]
    for host, part in parts.items():
        checks.extend(_of_host(f"{name}/{host}", part))
    if any(outline.event_bytes.any() for outline in good):
        empty_reasons = engine.empty_reasons(run, outlines)
        checks.extend(
            Check("note", f"{name}: {tool.label}", *empty_reasons[tool.name])
            for tool in TOOLS
            if tool.name in empty_reasons
        )
        checks.extend(_of_steps(engine, name))
    return checks


def _of_host(about: str, parts: dict[str, PartResult] | TbprofError) -> Iterator[Check]:
    if isinstance(parts, TbprofError):
        yield Check("bad", about, parts.message, parts.hint)
        return
    outline = parts["outline"].value
    damage = dict.fromkeys(notice for _, notices in parts.values() for notice in notices)
    for notice in damage:
        yield Check("bad", about, notice.message, notice.hint)
    if not damage and not outline.event_bytes.any():
        yield Check(
            "bad",
            about,
            "nothing was recorded in it",
            "the program was idle, or all tracers were off: record while it trains",
        )
    dropped = parts["environment"].value.dropped_events
    if dropped > 0:
        text = f"the recorder dropped {_count(dropped, 'event')}"
        yield Check("note", about, text, fix_for("dropped"))
    for text in outline.errors:
        yield Check("bad", about, f"the recorder says: {text}", fix_for(text))
    for text in outline.warnings:
        yield Check("note", about, f"the recorder warns: {text}", fix_for(text))


def _of_steps(engine: Engine, name: str) -> Iterator[Check]:
    about = f"{name}: steps"
    try:
        steps = [part for part in engine.part(name, "steps") if isinstance(part, Steps)]
    except TbprofError as error:
        yield Check("bad", about, error.message, error.hint)
        return
    counts = [len(set(part.label)) for part in steps]
    notes = list(dict.fromkeys(part.note for part in steps if part.note))
    if any(counts):
        yield Check("good", about, f"{_count(max(counts), 'step')} found{_notice_texts(notes)}")
    else:
        yield Check(
            "note",
            about,
            f"none found{_notice_texts(notes)}",
            CUT_HINT
            if any(part.ends_early for part in steps)
            else "mark them: tf.profiler.experimental.Trace('train', step_num=step, _r=1), or "
            "jax.profiler.StepTraceAnnotation('train', step_num=step)",
        )


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _notice_texts(notes: Sequence[str]) -> str:
    return f". {' '.join(notes)}" if notes else ""
