/** The target of keys while events are listed: the listed part of the trace. */
import type { TimelineModel } from "../model/model";
import type { Span } from "../model/types";
import { panBy, zoomAt } from "../model/view/view_math";
import type { Stage } from "../pointer/actions";
import type { Direction } from "../pointer/motion";

/** A list changes its view at once, and has no pointer or drags. */
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

/** The next view: the part before or after the current one, or a quarter or four times of it. */
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
