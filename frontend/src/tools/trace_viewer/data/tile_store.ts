/** Loads tiles on demand: in few requests, aborted when the view leaves, cached within a budget. */
import { ApiError, isRefusal } from "../../../api/errors";
import { queryOf, type Source } from "../model/sources";
import type { ViewApi } from "../model/types";
import { type EventFilter, NO_FILTER } from "../protocol/questions";
import { decodeTiles } from "../protocol/tiles";
import { type Chunk, TileCache } from "./tile_cache";
import {
  bareRows,
  coarser,
  type Has,
  isUseful,
  missingTiles,
  neighbors,
  STAND_IN,
  type TileRequest,
  type Want,
} from "./tile_plan";
import { TypeTable } from "./type_table";

export interface StoreEvents {
  /** Called when there is more to draw. */
  readonly arrived: () => void;
  /** Called with null when requests succeed again. */
  readonly failed: (error: unknown) => void;
  /** Called when the file has changed since the index was read. */
  readonly stale: () => void;
}

interface TileJob extends TileRequest {
  readonly filter: string;
  readonly rowSet: ReadonlySet<number>;
  readonly isAhead: boolean;
  readonly abort: AbortController;
}

const MAX_BYTES = 64e6;
/** The share of the browser's six connections to a server. */
const MAX_JOBS = 4;
/** The interval between requests while the view moves. */
const PAUSE_MS = 60;
/** After this time, the view counts as resting. */
const REST_MS = 250;
const RETRY_MS = 1000;
const LONGEST_RETRY_MS = 16_000;

export class TileStore {
  private readonly cache = new TileCache(MAX_BYTES);
  private readonly tables = new Map<string, TypeTable>();
  private readonly refused = new Set<string>();
  /** The filter that the server has rejected; it is not requested again. */
  private refusedFilterKey: string | null = null;
  private jobs: TileJob[] = [];
  private wants: readonly Want[] = [];
  private wantKey = "";
  private filter: EventFilter = NO_FILTER;
  private filterKey = "";
  /** The variant of each source that is shown until tiles of a new filter arrive. */
  private oldFilterKey = "";
  private changedAt = 0;
  private sentAt = Number.NEGATIVE_INFINITY;
  private failures = 0;
  private retryAt = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly fetchTiles: ViewApi["tiles"],
    private readonly events: StoreEvents,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Called with every frame. Returns whether something of `wants` is still missing. */
  want(wants: readonly Want[], filter: EventFilter): boolean {
    this.wants = wants;
    this.useFilter(filter);
    const key = wants.map(wantText).join(";") + this.filterKey;
    const isRefused = this.refusedFilterKey === this.filterKey;
    const isWaiting = !isRefused && this.wants.some((want) => this.lacks(want));
    if (!isWaiting && !isRefused) this.oldFilterKey = this.filterKey;
    if (key !== this.wantKey) {
      this.wantKey = key;
      this.changedAt = this.now();
      this.plan(Math.max(this.sentAt + PAUSE_MS - this.now(), 0));
    }
    return isWaiting;
  }

  /** The chunk to draw: under the current filter, or else under the previous one. */
  find(source: Source, level: number, tile: number, row: number, isOld = false): Chunk | undefined {
    const filter = isOld ? this.oldFilterKey : this.filterKey;
    return this.cache.find(source.key + filter, level, tile, row);
  }

  /** Whether tiles of the previous filter can be shown meanwhile. */
  get hasOld(): boolean {
    return this.oldFilterKey !== this.filterKey;
  }

  types(source: Source): TypeTable {
    let table = this.tables.get(source.key);
    if (!table) {
      table = new TypeTable(source.index.categories);
      this.tables.set(source.key, table);
    }
    return table;
  }

  endFrame(): void {
    this.cache.endFrame();
  }

  get bytes(): number {
    return this.cache.bytes;
  }

  /** Drops parts that are no longer shown. */
  keep(sources: readonly Source[]): void {
    const keys = sources.map(({ key }) => key);
    this.cache.keep((held) => keys.some((key) => held.startsWith(key)));
    for (const key of this.tables.keys()) if (!keys.includes(key)) this.tables.delete(key);
    this.wantKey = "";
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.wants = [];
    for (const { abort } of this.jobs) abort.abort();
    this.jobs = [];
  }

  private useFilter(filter: EventFilter): void {
    if (filter === this.filter) return;
    this.filter = filter;
    const isNone = filter.name === "" && filter.categories.length === 0 && !(filter.minPs > 0);
    const key = isNone ? "" : `\n${JSON.stringify(filter)}`;
    if (key === this.filterKey) return;
    if (this.refusedFilterKey === null) this.oldFilterKey = this.filterKey;
    this.filterKey = key;
    if (this.refusedFilterKey === null) return;
    this.refusedFilterKey = null;
    this.events.failed(null);
  }

  private plan(delay: number): void {
    clearTimeout(this.timer);
    const wait = Math.max(delay, this.retryAt - this.now());
    if (wait <= 0) this.pump();
    else this.timer = setTimeout(() => this.pump(), wait);
  }

  /** Aborts useless requests, and requests what is missing, coarse tiles first. */
  private pump(): void {
    clearTimeout(this.timer);
    if (this.refusedFilterKey === this.filterKey) return;
    const wants = this.wants.filter(({ source }) => !this.refused.has(source.key));
    const needed = wants.flatMap((want) => {
      const bare = bareRows(want, this.isComing);
      const standIn = coarser({ ...want, rows: bare }, STAND_IN);
      return [
        ...(standIn.level > want.level ? missingTiles(standIn, this.isComing) : []),
        ...missingTiles(want, this.isComing),
      ];
    });
    const isLacking = needed.length > 0 || this.jobs.some(({ isAhead }) => !isAhead);
    for (const job of this.jobs) {
      const isOf = job.filter === this.filterKey && wants.some((want) => isUseful(job, want));
      if (!isOf && (isLacking || !job.isAhead)) job.abort.abort();
    }
    this.jobs = this.jobs.filter(({ abort }) => !abort.signal.aborted);
    for (const request of needed.slice(0, MAX_JOBS - this.jobs.length)) this.send(request, false);
    if (needed.length > 0) this.sentAt = this.now();
    else if (!isLacking && this.jobs.length === 0) this.lookAhead(wants);
  }

  /** Prefetches, one request at a time, once the view rests. */
  private lookAhead(wants: readonly Want[]): void {
    const rest = this.changedAt + REST_MS - this.now();
    if (rest > 0) {
      this.plan(rest);
      return;
    }
    for (const want of wants) {
      for (const next of neighbors(want)) {
        const [request] = missingTiles(next, this.isComing);
        if (request) {
          this.send(request, true);
          return;
        }
      }
    }
  }

  private send(request: TileRequest, isAhead: boolean): void {
    const abort = new AbortController();
    const { source, level, from, to, rows } = request;
    const job = { ...request, filter: this.filterKey, rowSet: new Set(rows), isAhead, abort };
    this.jobs.push(job);
    const query = queryOf(source, level, from, to);
    this.fetchTiles(query, rows, this.filter, abort.signal)
      .then((buffer) => {
        if (abort.signal.aborted) return;
        const block = decodeTiles(buffer, this.types(source).intern);
        this.finish(job);
        this.cache.add(source.key + job.filter, block);
        if (this.failures > 0) this.events.failed(null);
        this.failures = 0;
        this.events.arrived();
        this.plan(0);
      })
      .catch((error: unknown) => {
        if (!abort.signal.aborted) this.fail(job, error);
      });
  }

  private finish(job: TileJob): void {
    this.jobs = this.jobs.filter((other) => other !== job);
  }

  private fail(job: TileJob, error: unknown): void {
    this.finish(job);
    if (error instanceof ApiError && error.code === "stale") {
      const isNew = !this.refused.has(job.source.key);
      this.refused.add(job.source.key);
      if (isNew) this.events.stale();
      return;
    }
    if (isRefusal(error) && job.filter !== "") {
      if (job.filter !== this.filterKey) return;
      this.refusedFilterKey = job.filter;
      this.events.failed(error);
      // Draws a frame that no longer waits for data.
      this.events.arrived();
      return;
    }
    if (job.isAhead) return;
    this.failures++;
    this.events.failed(error);
    this.retryAt = this.now() + Math.min(RETRY_MS * 2 ** (this.failures - 1), LONGEST_RETRY_MS);
    this.plan(0);
  }

  private lacks({ source, level, from, to, rows }: Want): boolean {
    const key = source.key + this.filterKey;
    for (const row of rows)
      for (let tile = from; tile < to; tile++)
        if (!this.cache.has(key, level, tile, row)) return true;
    return false;
  }

  /** Loaded, or requested. */
  private readonly isComing: Has = (source, level, tile, row) => {
    if (this.cache.has(source.key + this.filterKey, level, tile, row)) return true;
    return this.jobs.some(
      (job) =>
        job.source === source &&
        job.level === level &&
        job.filter === this.filterKey &&
        tile >= job.from &&
        tile < job.to &&
        job.rowSet.has(row),
    );
  };
}

function wantText({ source, level, from, to, rows }: Want): string {
  return `${source.key} ${level} ${from} ${to} ${rows.join()}`;
}
