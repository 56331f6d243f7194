/** Draws the model from the data that is loaded, in at most one frame per change. */
import { computed, effect, type ReadonlySignal } from "@preact/signals";
import { watchColors } from "../../../base/theme";
import { getComputedColor } from "../../../widgets/canvas/computed_color";
import { type EventColors, makeColors } from "../../../widgets/canvas/event_colors";
import { valueAt } from "../data/in_view";
import { ViewData } from "../data/view_data";
import { windowsIn } from "../data/wants";
import { lanesInView, lastScrollTop, type PlacedLane } from "../model/lanes/lane_layout";
import type { TimelineModel } from "../model/model";
import { selectedTrack } from "../model/selected_track";
import { sourceOf } from "../model/sources";
import type { Hover, HoverValue, TimeRange } from "../model/types";
import { chooseLevel, toPs } from "../model/view/view_math";
import { buildScene, countRows, laneFigures, type SelectedKind } from "../scene/build_scene";
import { hitAt, type Snap, snap } from "../scene/hit_test";
import { Scene } from "../scene/scene";
import { axisStepRow, type StepRow, stepsInView } from "../scene/steps_in_view";
import { createPainter, type PainterChoice } from "./create_painter";
import { HoverFollower } from "./hover";
import { Overlay } from "./overlay/overlay";
import { AXIS_HEIGHT, type Drag } from "./overlay/overlay_input";
import { timeAxis } from "./overlay/time_axis";
import type { Painter } from "./painter";

export type EventUnderPointer = Omit<Hover, "event">;

/** The minimum interval between updates of the counts on the page. */
const COUNT_MS = 120;
/** Data that arrives sooner does not count as missing. */
const LOADING_MS = 150;

export class Engine {
  readonly scene = new Scene();
  lanes: readonly PlacedLane[] = [];
  dpr = 1;
  /** Set by gestures, which then call `invalidate`. */
  drag: Drag | null = null;
  /** While something is dragged, hovered events do not follow the pointer. */
  isPressed = false;
  /** In CSS pixels of the canvas; null if the pointer is elsewhere. */
  pointer: { readonly x: number; readonly y: number } | null = null;
  private readonly data: ViewData;
  private readonly overlay: Overlay;
  private readonly hover: HoverFollower;
  private readonly painter: Painter | null;
  private colors: EventColors;
  private request = 0;
  private countedAt = 0;
  private countTimer: ReturnType<typeof setTimeout> | undefined;
  private loadingTimer: ReturnType<typeof setTimeout> | undefined;
  private readonly endings: (() => void)[] = [];
  private readonly stepRow: ReadonlySignal<StepRow | null>;
  private readonly selectedKind: ReadonlySignal<SelectedKind | null>;

  constructor(
    private readonly model: TimelineModel,
    private readonly base: HTMLCanvasElement,
    over: HTMLCanvasElement,
    choice: PainterChoice,
  ) {
    this.data = new ViewData(model, this.invalidate);
    // Cached, since it is searched for among all tracks.
    this.stepRow = computed(() => axisStepRow(model));
    this.selectedKind = computed(() => kindOfSelected(model));
    this.hover = new HoverFollower(model);
    this.painter = createPainter(base, choice, this.invalidate);
    this.overlay = new Overlay(over);
    this.colors = makeColors((property) => getComputedColor(base, property));
    base.dataset.renderer = this.painter?.kind ?? "none";
    this.endings.push(
      watchColors(() => {
        this.colors = makeColors((property) => getComputedColor(base, property));
        this.invalidate();
      }),
      model.hosts.subscribe(() => this.data.dropOldSources()),
      effect(() => {
        const { view, width, height, lanes, scrollTop, color, filter, search } = model;
        const { selection, range, marks, flows, hover } = model;
        const watched = [view, width, height, lanes, scrollTop, color, filter, search];
        for (const signal of [...watched, selection, range, marks, flows, hover]) signal.value;
        this.invalidate();
      }),
    );
  }

  readonly invalidate = (): void => {
    if (this.request === 0) this.request = requestAnimationFrame(this.frame);
  };

  /** The time of the common axis, in ps, at `x` CSS pixels. */
  psAt(x: number): number {
    return toPs(x, this.model.view.peek(), this.model.width.peek());
  }

  /** The edge nearest to a position in CSS pixels of the canvas; includes the ends of `range`. */
  snapAt(x: number, y: number, range: TimeRange | null): Snap {
    const { view, width, selection, marks, hosts } = this.model;
    const { from, to } = view.peek();
    const place = selection.peek()?.place;
    const offset = hosts.peek()[selection.peek()?.host ?? 0]?.offsetPs ?? 0;
    const ends = (span: { readonly from: number; readonly to: number }) => [span.from, span.to];
    return snap(
      {
        scene: this.scene,
        dpr: this.dpr,
        toPs: (at) => this.psAt(at),
        psPerPixel: (to - from) / Math.max(width.peek(), 1),
        others: [
          ...(place ? [place.startPs + offset, place.startPs + place.durationPs + offset] : []),
          ...marks.peek().flatMap(ends),
          ...(range ? ends(range) : []),
        ],
      },
      x,
      y - AXIS_HEIGHT,
    );
  }

  /** The event at a position of the canvas. */
  hoverAt(x: number, y: number): EventUnderPointer | null {
    if (y < AXIS_HEIGHT) return null;
    const hit = hitAt(this.scene, this.lanes, x, y - AXIS_HEIGHT, this.dpr);
    if (!hit) return null;
    const { source, row, id, type, count, startPs, endPs, roundingPs } = hit;
    const types = this.data.tiles.types(source);
    return {
      host: source.host.at,
      part: source.part,
      id,
      row,
      startPs,
      durationPs: endPs - startPs,
      name: types.names[type] ?? "",
      category: types.categories[type] ?? 0,
      count,
      roundingPs,
      x,
      y,
    };
  }

  /** The mark whose flag is at a position of the canvas; -1 for none. */
  markAt(x: number, y: number): number {
    const { marks, view, width } = this.model;
    if (y >= AXIS_HEIGHT) return -1;
    const frame = { view: view.peek(), width: width.peek() };
    // Later marks are drawn on top.
    return marks.peek().findLastIndex((mark) => {
      const flag = this.overlay.flagOf(mark, frame);
      return x >= flag.x && x < flag.x + flag.width;
    });
  }

  /** The number of tiles in memory. */
  get bytes(): number {
    return this.data.tiles.bytes;
  }

  dispose(): void {
    cancelAnimationFrame(this.request);
    this.request = -1;
    clearTimeout(this.countTimer);
    clearTimeout(this.loadingTimer);
    for (const end of this.endings) end();
    this.data.dispose();
    this.hover.dispose();
    this.model.hoverValue.value = null;
    this.painter?.dispose();
  }

  private readonly frame = (): void => {
    this.request = 0;
    const { model, scene, data, colors } = this;
    const width = model.width.peek();
    const height = model.height.peek();
    const list = model.lanes.peek();
    const view = model.view.peek();
    if (width <= 0 || height <= 0) return;
    const scrollTop = Math.min(model.scrollTop.peek(), lastScrollTop(list, height));
    if (scrollTop !== model.scrollTop.peek()) model.scrollTop.value = scrollTop;
    this.dpr = devicePixelRatio || 1;
    this.lanes = lanesInView(list, scrollTop, height);
    const level = chooseLevel((view.to - view.from) / width);
    const color = model.color.peek();
    const { lanes, dpr } = this;
    const stepRow = this.stepRow.value;
    const isWaiting = data.want({ view, level, list, scrollTop, height, color, lanes, stepRow });
    const axis = timeAxis(view, width, model.zero.peek());
    const selection = model.selection.peek();
    buildScene(scene, {
      view,
      width,
      height,
      dpr,
      level,
      lanes,
      tiles: data.tiles,
      counters: (...asked) => data.counters.parts(...asked),
      counterScale: data.counterScale,
      busy: (...asked) => data.busy.parts(...asked),
      matches: model.search.peek() ? (...asked) => data.matchOverview.parts(...asked) : null,
      colors,
      color,
      selected: this.selectedKind.value,
      grid: axis.ticks.map(({ ps }) => ps),
    });
    this.painter?.paint(scene);
    this.followPointer();
    this.overlay.draw({
      scene,
      view,
      width,
      height,
      dpr,
      lanes,
      list,
      groups: model.groups.peek(),
      scrollTop,
      axis,
      steps: stepRow ? stepsInView(data.tiles, stepRow, view, level) : [],
      zero: model.zero.peek(),
      colors,
      types: (source) => data.tiles.types(source),
      selection,
      hover: model.hover.peek(),
      flows: model.flows.peek(),
      range: model.range.peek(),
      marks: model.marks.peek(),
      drag: this.drag,
      pointerX: this.pointer?.x ?? null,
    });
    data.tiles.endFrame();
    this.report(isWaiting, level);
  };

  /** What is under the pointer may have moved away. */
  private followPointer(): void {
    const { pointer, isPressed } = this;
    const isFree = pointer !== null && !isPressed;
    this.hover.follow(isFree ? this.hoverAt(pointer.x, pointer.y) : null);
    const value = isFree ? this.valueAt(pointer.x, pointer.y) : null;
    if (value !== null || this.model.hoverValue.peek() !== null)
      this.model.hoverValue.value = value;
  }

  /** The counter at a place of the canvas. */
  private valueAt(x: number, y: number): HoverValue | null {
    const inLanes = y - AXIS_HEIGHT;
    const placed = this.lanes.find(
      ({ lane, y: top, clip }) => inLanes >= Math.max(top, clip) && inLanes < top + lane.height,
    );
    if (inLanes < 0 || placed?.lane.kind !== "counter") return null;
    const { host, item } = placed.lane;
    const source = sourceOf(host, item.part);
    if (!source) return null;
    const at = this.psAt(x);
    const view = this.model.view.peek();
    const level = chooseLevel((view.to - view.from) / this.model.width.peek());
    const windows = windowsIn({ view, level }, source);
    const parts = this.data.counters.parts(source, windows.level, windows, item.counter.id);
    const value = valueAt(parts, source, at - host.offsetPs);
    const { name, unit } = item.counter;
    return value && { host: host.at, name, unit, at, value, x, y };
  }

  private report(isWaiting: boolean, level: number): void {
    const { model, scene, data } = this;
    const wait = this.countedAt + COUNT_MS - performance.now();
    clearTimeout(this.countTimer);
    const count = () => {
      this.countedAt = performance.now();
      const { entries, events, busyStrips: strips } = scene;
      const old = model.drawn.peek();
      if (old.entries !== entries || old.events !== events || old.strips !== strips)
        model.drawn.value = { entries, events, strips };
      const { rows, filled } = countRows(scene, this.lanes, model.height.peek());
      Object.assign(this.base.dataset, { rows: `${rows}`, filled: `${filled}` });
      const figures = laneFigures({
        view: model.view.peek(),
        level,
        lanes: this.lanes,
        busy: (...asked) => data.busy.parts(...asked),
        counterScale: data.counterScale,
      });
      const before = model.figures.peek();
      const isSame =
        figures.size === before.size &&
        [...figures].every(([key, value]) => Object.is(before.get(key), value));
      if (!isSame) model.figures.value = figures;
    };
    if (wait <= 0) count();
    else this.countTimer = setTimeout(count, wait);
    model.isWaiting.value = isWaiting;
    if (!isWaiting) {
      clearTimeout(this.loadingTimer);
      this.loadingTimer = undefined;
      model.isLoading.value = false;
    } else if (this.loadingTimer === undefined && !model.isLoading.peek()) {
      this.loadingTimer = setTimeout(() => {
        this.loadingTimer = undefined;
        model.isLoading.value = true;
      }, LOADING_MS);
    }
  }
}

function kindOfSelected(model: TimelineModel): SelectedKind | null {
  const selected = selectedTrack(model);
  const name = model.selection.value?.place?.name;
  if (!selected || name === undefined) return null;
  return { name, trackKind: selected.track.kind, sectionKind: selected.section.kind };
}
