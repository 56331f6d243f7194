/** Actions of keys and clicks on the model. */
import { batch, signal } from "@preact/signals";
import type { Engine, EventUnderPointer } from "../canvas/engine";
import type { TimelineModel } from "../model/model";
import { shortName } from "../model/short_name";
import { formatPs } from "../model/time";
import type { Mark, Span } from "../model/types";
import { clampView, fitView } from "../model/view/view_math";
import { goBack } from "../model/view/view_trail";
import { createMoves } from "../page/selection/moves";
import type { Move } from "../protocol/questions";
import type { KeyActions } from "./keys";
import type { Motion } from "./motion";

const MARK_LABEL = 60;

/** What the keys need from a canvas. A list has neither a pointer nor animations. */
export interface Stage {
  readonly model: TimelineModel;
  readonly engine: Pick<Engine, "pointer" | "psAt">;
  readonly motion: Pick<Motion, "flyTo" | "press" | "stop">;
  /** Cancels the drag in progress. Returns whether there was one. */
  readonly cancelDrag: () => boolean;
}

export interface Actions extends KeyActions {
  readonly choose: (event: EventUnderPointer | null) => void;
  readonly fitEvent: (event: EventUnderPointer) => void;
  /** The index of the mark whose label is being edited, -1 for none. */
  readonly edited: { value: number };
}

export function createActions({ model, engine, motion, cancelDrag }: Stage): Actions {
  const edited = signal(-1);
  const moves = createMoves(model);

  return {
    edited,
    go: (move, isRepeated) => {
      if (model.selection.peek() === null) nudge(model, motion, move);
      else moves.go(move, isRepeated);
    },
    use: (tool) => {
      model.tool.value = tool;
    },
    press: (direction) => motion.press(direction),
    fit: () => {
      const span = selectedSpan(model) ?? model.range.peek();
      if (span) motion.flyTo(fitView(span, model.extent.peek()));
    },
    showAll: () => {
      const { from, to } = model.extent.peek();
      const room = (to - from) * 0.01;
      motion.flyTo(clampView({ from: from - room, to: to + room }, model.extent.peek()));
    },
    back: () => {
      motion.stop();
      goBack(model);
    },
    search: () => {
      model.searchAsked.value++;
    },
    mark: () => {
      const mark = newMark(model, engine);
      const marks = model.marks.peek();
      const known = marks.findIndex(({ from, to }) => from === mark.from && to === mark.to);
      // An existing mark can be labelled.
      if (known >= 0) edited.value = known;
      else model.marks.value = [...marks, mark];
    },
    leave: () => {
      moves.stop();
      if (edited.peek() >= 0) edited.value = -1;
      else if (cancelDrag()) return;
      else if (model.range.peek()) model.range.value = null;
      else if (model.selection.peek()) model.selection.value = null;
      else model.search.value = null;
    },
    choose: (hover) => {
      moves.stop();
      batch(() => {
        if (hover === null) {
          model.selection.value = null;
          model.range.value = null;
          return;
        }
        const { host, part, id, row, startPs, durationPs, name } = hover;
        // As exact as the picture; the details have the exact time.
        model.selection.value = { host, part, id, place: { row, startPs, durationPs, name } };
      });
    },
    fitEvent: ({ host, startPs, durationPs }) => {
      const from = startPs + (model.hosts.peek()[host]?.offsetPs ?? 0);
      motion.flyTo(fitView({ from, to: from + durationPs }, model.extent.peek()));
    },
  };
}

/** The position of the selected event on the common axis, or null if not known yet. */
function selectedSpan(model: TimelineModel): Span | null {
  const selection = model.selection.peek();
  const host = selection ? model.hosts.peek()[selection.host] : undefined;
  if (!selection?.place || !host) return null;
  const from = selection.place.startPs + host.offsetPs;
  return { from, to: from + selection.place.durationPs };
}

/** A mark of the range, or else the selected event, the pointer, or the middle of the view. */
function newMark(model: TimelineModel, engine: Stage["engine"]): Mark {
  const range = model.range.peek();
  if (range) return { from: range.from, to: range.to, label: formatPs(range.to - range.from) };
  const span = selectedSpan(model);
  if (span) {
    const name = shortName(model.selection.peek()?.place?.name ?? "");
    return { ...span, label: name.slice(0, MARK_LABEL) };
  }
  const { from, to } = model.view.peek();
  const at = engine.pointer ? engine.psAt(engine.pointer.x) : (from + to) / 2;
  return { from: at, to: at, label: `Mark ${model.marks.peek().length + 1}` };
}

/** Without a selection, the arrow keys move the view. */
function nudge(model: TimelineModel, motion: Stage["motion"], move: Move): void {
  const { from, to } = model.view.peek();
  const step = (to - from) / 5;
  const by = { previous: -step, next: step }[move as string];
  if (by !== undefined) {
    motion.flyTo(clampView({ from: from + by, to: to + by }, model.extent.peek()));
    return;
  }
  const down = { parent: -1, child: 1 }[move as string];
  if (down !== undefined) model.scrollTop.value = Math.max(model.scrollTop.peek() + down * 54, 0);
}
