"""Groups of drawn traces: which events belong to which step."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from traces import drawn_space

from tbprof.analysis.grouping.grouping import Grouping, find_grouping
from tbprof.analysis.grouping.roots import names_at
from tbprof.analysis.host.host_events import CallsApart, HostThreads, host_threads
from tbprof.analysis.vocabulary.lines import host_planes
from tbprof.events.space import Space

HOST = "/host:CPU"

ROOT = {"_r": 1}

Drawing = str | Mapping[str, str] | Sequence[tuple[str, str]]


def made(id_: int, type_: int = 2) -> dict[str, int]:
    return {"_pt": type_, "_p": id_}


def used(id_: int, type_: int = 2) -> dict[str, int]:
    return {"_ct": type_, "_c": id_}


def grouping_of(drawing: Drawing, root_name: str = "", **more: Any) -> tuple[Space, Grouping]:
    planes = {HOST: drawing} if isinstance(drawing, str) else drawing
    space = drawn_space(planes, **more)
    return space, find_grouping(space, root_name)


def members(grouping: Grouping) -> dict[str, str]:
    """The names of the events of each group, by its label ("" for none), sorted."""
    found: dict[str, list[str]] = {label: [] for label in grouping.roots.label}
    for host in grouping.hosts:
        texts = names_at(host.events, np.arange(len(host.events)))
        for text, group in zip(texts, host.group.tolist(), strict=True):
            label = grouping.roots.label[group] if group >= 0 else ""
            found.setdefault(label, []).append(text)
    return {label: " ".join(sorted(texts)) for label, texts in found.items()}


def groups(drawing: Drawing, root_name: str = "", **more: Any) -> dict[str, str]:
    return members(grouping_of(drawing, root_name, **more)[1])


def threads_of(space: Space) -> list[HostThreads]:
    """The threads of each host plane, none of whose events is in a group."""
    hosts = []
    for plane in host_planes(space):
        events, parent = host_threads(plane)
        none = np.full(len(events), -1, np.int32)
        hosts.append(HostThreads(plane, events, parent, none, CallsApart.none(events)))
    return hosts
