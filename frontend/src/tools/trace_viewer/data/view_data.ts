/** The data that a view fetches as it moves, for drawing. */
import { isRefusal } from "../../../api/errors";
import type { TimelineModel } from "../model/model";
import { queryOf, type Source, sourceOf } from "../model/sources";
import type { CounterScale } from "../model/types";
import type { CounterPoints } from "../protocol/payload";
import { tileSpan } from "../protocol/tiles";
import { type StoreEvents, TileStore } from "./tile_store";
import { busyWants, counterWants, matchWants, tileWants, type ViewInput } from "./wants";
import { WindowStore } from "./window_store";

const NO_SCALE: CounterScale = { least: 0, most: 0 };

export class ViewData {
  readonly tiles: TileStore;
  readonly counters: WindowStore<CounterPoints>;
  readonly busy: WindowStore<Float32Array>;
  readonly matchOverview: WindowStore<Float64Array>;
  private readonly scales = new Map<string, CounterScale>();

  constructor(
    private readonly model: TimelineModel,
    arrived: () => void,
  ) {
    const { api, search } = model;
    const events: StoreEvents = {
      arrived,
      failed: (error) => {
        model.error.value = error;
      },
      stale: () => {
        model.stale.value++;
      },
    };
    this.tiles = new TileStore(api.tiles, {
      ...events,
      failed: (error) => {
        model.error.value = error;
        model.filterError.value = isRefusal(error) ? error : null;
      },
    });
    this.counters = new WindowStore(async (source, level, from, to, ids, signal) => {
      const counters = await api.counters(queryOf(source, level, from, to), ids, signal);
      for (const [id, points] of counters) this.widen(source, id, points);
      return counters;
    }, events);
    this.busy = new WindowStore((source, level, from, to, ids, signal) => {
      const { beginPs } = source.index;
      const size = tileSpan(level);
      const [begin, end] = [beginPs + from * size, beginPs + to * size];
      const query = queryOf(source, level, from, to);
      return api.busy(query, begin, end, (to - from) * 512, ids, signal);
    }, events);
    this.matchOverview = new WindowStore((source, level, from, to, ids, signal) => {
      const asked = search.peek();
      if (!asked) return Promise.resolve(new Map());
      const query = queryOf(source, level, from, to);
      return api.matchOverview(query, ids, asked, signal).catch((error: unknown) => {
        // The search box reports errors of the search.
        if (isRefusal(error)) return new Map<number, Float64Array>();
        throw error;
      });
    }, events);
  }

  /** Requests what the view needs. Returns whether some of it is still missing. */
  want(input: ViewInput): boolean {
    const { filter, search } = this.model;
    const asked = search.peek();
    const variant = asked ? JSON.stringify(asked) : "";
    const isWaiting = [
      this.tiles.want(tileWants(input), filter.peek()),
      this.counters.want(counterWants(input)),
      this.busy.want(busyWants(input)),
      this.matchOverview.want(asked ? matchWants(input) : [], variant),
    ];
    return isWaiting.includes(true);
  }

  counterScale = (source: Source, counter: number): CounterScale =>
    this.scales.get(`${source.key} ${counter}`) ?? NO_SCALE;

  /** Drops hosts that are no longer shown. */
  dropOldSources(): void {
    const sources = this.model.hosts
      .peek()
      .flatMap((host) => [sourceOf(host, "events"), sourceOf(host, "derived")])
      .filter((source) => source !== null);
    this.tiles.keep(sources);
  }

  dispose(): void {
    for (const store of [this.tiles, this.counters, this.busy, this.matchOverview]) store.dispose();
  }

  private widen(source: Source, counter: number, { min, max }: CounterPoints): void {
    const key = `${source.key} ${counter}`;
    let { least, most } = this.scales.get(key) ?? NO_SCALE;
    for (const value of min) if (value < least) least = value;
    for (const value of max) if (value > most) most = value;
    this.scales.set(key, { least, most });
  }
}
