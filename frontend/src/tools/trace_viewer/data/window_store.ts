/** Loads counters, busy shares and search matches of windows in view; like tiles, but as JSON. */
import { ApiError } from "../../../api/errors";
import type { Source } from "../model/sources";
import { tileSpan } from "../protocol/tiles";
import {
  coarser,
  isUseful,
  missingTiles,
  STAND_IN,
  type TileRequest,
  type Want,
} from "./tile_plan";
import type { StoreEvents } from "./tile_store";

/** The number of tiles in a window: 2,048 buckets. */
const WINDOW_TILES = 4;
export const WINDOW_BUCKETS = 512 * WINDOW_TILES;

/** The response for one row, counter or section: windows [from, to) of `level`. */
interface WindowPiece<T> {
  readonly level: number;
  readonly from: number;
  readonly to: number;
  /** null if the response had nothing for it. */
  readonly data: T | null;
}

/** The part of a piece that is drawn, in ps of the host. */
export interface PiecePart<T> extends WindowPiece<T> {
  readonly lowPs: number;
  readonly highPs: number;
}

type FetchWindows<T> = (
  source: Source,
  level: number,
  /** Tiles [from, to), whole windows. */
  from: number,
  to: number,
  ids: readonly number[],
  signal: AbortSignal,
) => Promise<ReadonlyMap<number, T>>;

interface WindowJob extends TileRequest {
  readonly variant: string;
  readonly abort: AbortController;
}

const MAX_PIECES = 4000;
const PAUSE_MS = 100;
const RETRY_MS = 2000;

export class WindowStore<T> {
  /** The least recently used first. */
  private readonly pieces = new Map<string, WindowPiece<T>>();
  private readonly refused = new Set<string>();
  private job: WindowJob | null = null;
  private wants: readonly Want[] = [];
  private wantKey = "";
  private variant = "";
  private sentAt = Number.NEGATIVE_INFINITY;
  private retryAt = 0;
  private hasFailed = false;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly fetchWindows: FetchWindows<T>,
    private readonly events: StoreEvents,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** In `wants`, tiles are windows and rows are ids. A different `variant` is a different request. */
  want(wants: readonly Want[], variant = ""): boolean {
    this.wants = wants;
    this.variant = variant;
    const key = `${variant}|${wants.map((want) => [want.source.key, want.level, want.from, want.to, want.rows].join(" ")).join("|")}`;
    if (key !== this.wantKey) {
      this.wantKey = key;
      this.plan(Math.max(this.sentAt + PAUSE_MS - this.now(), 0));
    }
    return wants.some((want) => missingTiles(want, this.has).length > 0);
  }

  /** The piece that contains the window, or a coarser one that covers it. */
  find(source: Source, level: number, window: number, id: number): WindowPiece<T> | undefined {
    for (let index = level, above = window; index <= source.index.maxLevel; index++) {
      const key = this.key(source, index, above, id);
      const piece = this.pieces.get(key);
      if (piece) {
        this.pieces.delete(key);
        this.pieces.set(key, piece);
        return piece;
      }
      above = Math.floor(above / 2);
    }
    return undefined;
  }

  /** The loaded data of windows [from, to), without overlaps. */
  parts(
    source: Source,
    level: number,
    windows: { readonly from: number; readonly to: number },
    id: number,
  ): PiecePart<T>[] {
    const parts: PiecePart<T>[] = [];
    const { beginPs } = source.index;
    for (let window = windows.from; window < windows.to; window++) {
      const piece = this.find(source, level, window, id);
      if (!piece) continue;
      const lowPs = beginPs + windowStart(level, window);
      const highPs = beginPs + windowStart(level, window + 1);
      const last = parts.at(-1);
      const isMore = last && last.data === piece.data && last.highPs === lowPs;
      if (isMore) parts[parts.length - 1] = { ...last, highPs };
      else parts.push({ ...piece, lowPs, highPs });
    }
    return parts;
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.wants = [];
    this.job?.abort.abort();
  }

  private plan(delay: number): void {
    clearTimeout(this.timer);
    const wait = Math.max(delay, this.retryAt - this.now());
    if (wait <= 0) this.pump();
    else this.timer = setTimeout(() => this.pump(), wait);
  }

  private pump(): void {
    clearTimeout(this.timer);
    const wants = this.wants.filter(({ source }) => !this.refused.has(source.key));
    const { job } = this;
    if (job) {
      if (job.variant === this.variant && wants.some((want) => isUseful(job, want))) return;
      job.abort.abort();
      this.job = null;
    }
    for (const want of wants) {
      // A coarse window first if there is no substitute.
      const bare = want.rows.filter((id) => !this.find(want.source, want.level, want.from, id));
      const wide = coarser({ ...want, rows: bare }, STAND_IN);
      const [request] = [
        ...(wide.level > want.level ? missingTiles(wide, this.has) : []),
        ...missingTiles(want, this.has),
      ];
      if (request) {
        this.send(request);
        return;
      }
    }
  }

  private send(request: TileRequest): void {
    const abort = new AbortController();
    const job: WindowJob = { ...request, variant: this.variant, abort };
    const { source, level, from, to, rows } = request;
    this.job = job;
    this.sentAt = this.now();
    this.fetchWindows(source, level, from * WINDOW_TILES, to * WINDOW_TILES, rows, abort.signal)
      .then((windows) => {
        if (abort.signal.aborted) return;
        this.job = null;
        this.keep(request, windows);
        if (this.hasFailed) this.events.failed(null);
        this.hasFailed = false;
        this.events.arrived();
        this.plan(0);
      })
      .catch((error: unknown) => {
        if (abort.signal.aborted) return;
        this.job = null;
        if (error instanceof ApiError && error.code === "stale") {
          this.refused.add(source.key);
          this.events.stale();
          return;
        }
        this.hasFailed = true;
        this.events.failed(error);
        this.retryAt = this.now() + RETRY_MS;
        this.plan(0);
      });
  }

  /** Requested ids that are missing in the response have no data. */
  private keep(
    { source, level, from, to, rows }: TileRequest,
    windows: ReadonlyMap<number, T>,
  ): void {
    for (const id of rows) {
      const piece = { level, from, to, data: windows.get(id) ?? null };
      for (let window = from; window < to; window++)
        this.pieces.set(this.key(source, level, window, id), piece);
    }
    for (const key of this.pieces.keys()) {
      if (this.pieces.size <= MAX_PIECES) break;
      this.pieces.delete(key);
    }
  }

  private key(source: Source, level: number, window: number, id: number): string {
    return `${source.key} ${this.variant} ${level} ${window} ${id}`;
  }

  private readonly has = (source: Source, level: number, window: number, id: number): boolean =>
    this.pieces.has(this.key(source, level, window, id));
}

/** The windows [from, to) of `level` that a view touches, given its tiles. */
export function windowsOf(tiles: { readonly from: number; readonly to: number }) {
  return {
    from: Math.floor(tiles.from / WINDOW_TILES),
    to: Math.ceil(tiles.to / WINDOW_TILES),
  };
}

/** The start of a window in ps since the start of the part. */
function windowStart(level: number, window: number): number {
  return window * WINDOW_TILES * tileSpan(level);
}
