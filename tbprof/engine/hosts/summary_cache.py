"""The parts of hosts: from memory, from the result store, or computed from the file."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import ExitStack, contextmanager
from functools import partial

from tbprof.base.caches import OnceCache
from tbprof.base.errors import TbprofError
from tbprof.base.process.parallel import thread_pool
from tbprof.base.records import NamedTuple
from tbprof.engine.hosts.kept_parts import PartResult, PartStore
from tbprof.engine.hosts.part_memory import FILES_IN_MEMORY, PartMemory
from tbprof.engine.hosts.space_pool import OpenSpace, SpacePool
from tbprof.engine.parts import PartKey
from tbprof.engine.workers.workers import HostWork, Workers
from tbprof.storage.files import fingerprint
from tbprof.storage.packing import share_texts
from tbprof.storage.results import ResultStore
from tbprof.storage.runs import TraceFile

# Passes over bytes use all processors anyway; each additional part takes more memory.
_PARTS_AT_ONCE = 2
# For small files, more threads would only wait for the interpreter.
_HOSTS_AT_ONCE, _SMALL_HOSTS_AT_ONCE, _SMALL = 4, 2, 4 << 20

_Parts = dict[PartKey, PartResult]
# The parts of a host by name, or why it cannot be read.
FoundParts = dict[str, PartResult] | TbprofError


class _FileWork(NamedTuple):
    """What parts of a file are computed with.

    `known` returns those that are known, `reads` are the stats that will be needed, `on_work` is
    called with the name of each part that is computed, and `computed` collects these.
    """

    key: str
    known: Callable[[Iterable[PartKey]], _Parts]
    open_space: Callable[[], OpenSpace]
    reads: AbstractSet[str]
    on_work: Callable[[str], None]
    computed: _Parts


class SummaryCache:
    """The parts of files, each computed once, and the spaces that they are computed from.

    Parts are computed by `workers`, or without any in threads of this process. They are kept in
    `results`, as are copies of remote files unless `copies` is given; those of the latest `files`
    stay in memory. If `keep` is given, it is called with the fingerprint of a file and the parts
    that are computed here, which it keeps.
    """

    def __init__(
        self,
        results: ResultStore | None,
        workers: Workers | None = None,
        *,
        copies: ResultStore | None = None,
        files: int = FILES_IN_MEMORY,
        keep: Callable[[str, Mapping[PartKey, PartResult]], object] | None = None,
    ) -> None:
        self._store = None if results is None else PartStore(results)
        self._workers = workers
        self._memory = PartMemory(files)
        self._spaces = SpacePool(results or copies)
        self._keep_computed = keep or (self._store.keep if self._store is not None else None)

    def parts(
        self,
        file: TraceFile,
        requested: Sequence[PartKey],
        on_work: Callable[[str], None] = lambda _name: None,
        *,
        side_by_side: bool = True,
    ) -> dict[str, PartResult]:
        """The requested parts of one file, by name; `on_work` is called for each that is computed.

        `side_by_side` is faster for large files: while one part runs Python, another decodes.
        Parts of small files would only compete for the interpreter.
        """
        key = fingerprint(file)
        results = self._memory.get(key, requested)
        missing = [part for part in requested if part not in results]
        if missing:
            with self._computing(file, key, missing, on_work) as find:
                if len(missing) < 2 or not side_by_side:
                    results.update((part, find(part)) for part in missing)
                else:
                    with thread_pool(_PARTS_AT_ONCE) as pool:
                        results.update(zip(missing, pool.map(find, missing), strict=True))
        return _by_name(results)

    def has_stored(self, file: TraceFile, parts: Sequence[PartKey]) -> bool:
        """Whether the result store has all these parts, which are without choices."""
        if self._store is None:
            return False
        self._store.settle()
        return self._store.has(fingerprint(file), parts)

    def parts_of_hosts(
        self,
        files: Sequence[TraceFile],
        requested: Sequence[PartKey],
        on_work: Callable[[TraceFile, str], None] = lambda _file, _name: None,
    ) -> Generator[tuple[TraceFile, FoundParts], None, None]:
        """The parts of every file, or why it cannot be read, in any order.

        `on_work` is called with the name of each part that is computed, and "" when a host is done.
        When it is closed, hosts that have not begun are skipped.
        """
        if self._workers is not None and len(files) >= self._workers.least_hosts:
            yield from self._from_workers(self._workers, files, requested, on_work)
            return
        are_small = max((file.bytes for file in files), default=0) < _SMALL
        side_by_side = len(files) == 1 and not are_small

        def one(file: TraceFile) -> FoundParts:
            def note(name: str) -> None:
                on_work(file, name)

            try:
                return self.parts(file, requested, note, side_by_side=side_by_side)
            except TbprofError as error:
                return error
            finally:
                on_work(file, "")

        if len(files) == 1:
            yield files[0], one(files[0])
            return
        with thread_pool(_SMALL_HOSTS_AT_ONCE if are_small else _HOSTS_AT_ONCE) as pool:
            yield from zip(files, pool.map(one, files), strict=True)

    def _from_workers(
        self,
        workers: Workers,
        files: Sequence[TraceFile],
        requested: Sequence[PartKey],
        on_work: Callable[[TraceFile, str], None],
    ) -> Iterator[tuple[TraceFile, FoundParts]]:
        """Each part is locked until it is known, so that other requests wait for it."""
        with ExitStack() as all_locks:
            work: dict[HostWork, tuple[_Parts, ExitStack]] = {}
            for file in sorted(files, key=_order):
                locks = all_locks.enter_context(ExitStack())
                known, missing = self._lock(locks, file, requested)
                if missing:
                    work[HostWork(file, missing)] = known, locks
                    continue
                locks.close()
                on_work(file, "")
                yield file, _by_name(known)
            for asked, computed in workers.compute_hosts([*work], on_work) if work else ():
                known, locks = work.pop(asked)  # what was found is not held here
                if not isinstance(computed, TbprofError):
                    known.update(self._keep(asked.file, computed, is_kept=workers.keeps_results))
                locks.close()
                on_work(asked.file, "")
                yield asked.file, computed if isinstance(computed, TbprofError) else _by_name(known)

    def _lock(
        self, locks: ExitStack, file: TraceFile, requested: Sequence[PartKey]
    ) -> tuple[_Parts, tuple[PartKey, ...]]:
        """(the parts that are known, the others); all are locked.

        In a fixed order, so that requests cannot deadlock.
        """
        key = fingerprint(file)
        for lock in self._memory.locks(key, sorted(requested)):
            locks.enter_context(lock)
        known = self._known(key)(requested)
        return known, tuple(part for part in requested if part not in known)

    def _keep(
        self, file: TraceFile, computed: Mapping[PartKey, PartResult], *, is_kept: bool
    ) -> _Parts:
        """The parts that workers have computed, with texts shared with other hosts in memory."""
        key = fingerprint(file)
        parts = {
            part: PartResult(share_texts(value), notices)
            for part, (value, notices) in computed.items()
        }
        self._memory.put(key, parts)
        if self._store is not None and not is_kept:
            self._store.keep(key, parts)
        return parts

    def _known(self, key: str) -> Callable[[Iterable[PartKey]], _Parts]:
        """A function that returns those parts of a file that are in memory or in the store.

        Parts from the store are then in memory.
        """
        store, memory, shared = self._store, self._memory, OnceCache()

        def known(parts: Iterable[PartKey]) -> _Parts:
            results = memory.get(key, parts)
            missing = [part for part in parts if part not in results]
            if missing and store is not None:
                arrays = shared.get_or_compute("arrays", lambda: store.load(key))
                new = {
                    part: result
                    for part in missing
                    if (result := store.find(key, part, arrays)) is not None
                }
                if new:
                    memory.put(key, new)
                    results.update(new)
            return results

        return known

    @contextmanager
    def _computing(
        self,
        file: TraceFile,
        key: str,
        requested: Sequence[PartKey],
        on_work: Callable[[str], None],
    ) -> Iterator[Callable[[PartKey], PartResult]]:
        """A function that returns a part of a file; computed parts are stored after the block."""
        # Collected before anything is decoded, so that one pass reads them all.
        reads = {
            name
            for key in requested
            for part in (key, *key.needs, *key.uses)
            for name in part.kind.reads
        }
        computed: _Parts = {}
        try:
            with self._spaces.using(file) as open_space:
                work = _FileWork(key, self._known(key), open_space, reads, on_work, computed)
                yield partial(self._find, work)
        finally:
            if computed and self._keep_computed is not None:
                self._keep_computed(key, computed)

    def _find(self, work: _FileWork, part: PartKey) -> PartResult:
        """A part of a file that is being worked on.

        A method, since a function that calls itself would hold the space until garbage is
        collected.
        """
        key, known, open_space, reads, on_work, computed = work
        [lock] = self._memory.locks(key, (part,))
        with lock:
            result = known((part,)).get(part)
            if result is None:
                needed = [self._find(work, other).value for other in part.needs]
                if uses := part.uses:
                    used = known(uses)
                    needed += [used[other].value if other in used else None for other in uses]
                on_work(part.name)
                opened = open_space()
                for plane in opened.space.planes:
                    plane.expected_stats.update(reads)
                result = computed[part] = _compute(opened, part, needed)
                self._memory.put(key, {part: result})
            return result

    def warm_up(self) -> None:
        """Prepares what the first request needs."""
        if self._workers is not None:
            self._workers.warm_up()

    def expect(self, files: Sequence[TraceFile]) -> None:
        """Lets workers prepare for files whose parts will be requested soon."""
        if self._workers is not None and len(files) >= self._workers.least_hosts:
            self._workers.expect(files)

    def decoded_ratio(self, file: TraceFile) -> float:
        """How much of the file's events has been decoded, 0 to 1; 0 if it is not open."""
        here = self._spaces.decoded_ratio(file)
        return here or (0.0 if self._workers is None else self._workers.decoded_ratio(file))

    @contextmanager
    def space(self, file: TraceFile) -> Iterator[OpenSpace]:
        """The open space of a file.

        Results about its planes inside the block are shared with parts of the file, and dropped
        with the last user.
        """
        with self._spaces.using(file) as open_space:
            yield open_space()


def _order(file: TraceFile) -> tuple[str, int, int, str, str]:
    """One order for all requests, see `_lock`, which is about that of hosts."""
    return file.url, file.bytes, file.modified_ns, file.version, file.compression


def _by_name(parts: Mapping[PartKey, PartResult]) -> dict[str, PartResult]:
    return {part.name: result for part, result in parts.items()}


def _compute(open_space: OpenSpace, part: PartKey, needed: Sequence[object]) -> PartResult:
    space, programs, warnings = open_space
    value = share_texts(part.kind.compute(space, programs, *needed, *part.values))
    damage = [*warnings, *space.notices]
    for plane in space.planes:
        damage.extend(plane.notices)
    return PartResult(value, tuple(dict.fromkeys(damage)))
