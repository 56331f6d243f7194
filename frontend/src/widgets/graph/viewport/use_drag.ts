/** Pans a frame by dragging with the mouse or a finger. */
import { useRef } from "preact/hooks";

/** CSS pixels before a press becomes a drag: clicks are not always still. */
const SLACK = 4;

export function useDrag(move: (right: number, down: number) => void) {
  const held = useRef<{ x: number; y: number; isMoving: boolean } | null>(null);
  const wasMoved = useRef(false);
  return {
    onPointerDown: (event: PointerEvent) => {
      wasMoved.current = false;
      if (event.button === 0)
        held.current = { x: event.clientX, y: event.clientY, isMoving: false };
    },
    onPointerMove: (event: PointerEvent) => {
      const from = held.current;
      if (!from) return;
      const [right, down] = [from.x - event.clientX, from.y - event.clientY];
      if (!from.isMoving && Math.hypot(right, down) < SLACK) return;
      if (!from.isMoving && event.currentTarget instanceof Element)
        event.currentTarget.setPointerCapture(event.pointerId);
      held.current = { x: event.clientX, y: event.clientY, isMoving: true };
      wasMoved.current = true;
      move(right, down);
    },
    onPointerUp: () => {
      held.current = null;
    },
    onPointerCancel: () => {
      held.current = null;
    },
    /** A drag that ends on a node is not a click on it. */
    onClickCapture: (event: MouseEvent) => {
      if (!wasMoved.current) return;
      wasMoved.current = false;
      event.stopPropagation();
    },
  };
}
