/** What keys move while events are listed: the part of the trace that is listed. */
import type { TimelineModel } from "../model/model";
import type { Span } from "../model/types";
import { panBy, zoomAt } from "../model/view_math";
import type { Stage } from "../pointer/actions";
import type { Direction } from "../pointer/motion";

/** Views of a list change at once; it has no pointer, and nothing is dragged in it. */
export function listStage(model: TimelineModel): Stage {
  const middle = () => (model.view.peek().from + model.view.peek().to) / 2;
  return {
    model,
    engine: { pointer: null, psAt: middle },
    motion: {
      flyTo: (view) => {
        model.view.value = view;
      },
      press: (direction) => {
        model.view.value = turned(model, direction);
      },
      stop: () => {},
    },
    cancelDrag: () => false,
  };
}

/** The part of the track before or after what is listed, or a quarter or four times as much. */
export function turned({ view, extent }: TimelineModel, direction: Direction): Span {
  const { from, to } = view.peek();
  switch (direction) {
    case "left":
      return panBy(view.peek(), from - to, extent.peek());
    case "right":
      return panBy(view.peek(), to - from, extent.peek());
    case "in":
      return zoomAt(view.peek(), (from + to) / 2, 0.25, extent.peek());
    case "out":
      return zoomAt(view.peek(), (from + to) / 2, 4, extent.peek());
  }
}
