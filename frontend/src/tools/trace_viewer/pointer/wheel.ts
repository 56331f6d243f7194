/** What a turn of the wheel means. */

interface WheelMove {
  /** Power of e by which the view becomes wider. */
  readonly zoom: number;
  /** CSS pixels along the time axis, and down. */
  readonly pan: number;
  readonly scroll: number;
}

/** CSS pixels of a line, where a wheel counts in lines. */
const LINE = 40;
/** Zoom per CSS pixel of the wheel, and the most that one event may count. */
const ZOOM = 0.0075;
const MOST = 60;

/** Plain: scrolls. Shift: along the axis. Ctrl, as pinches on a touch pad say, or on the axis: zooms. */
export function wheelMove(
  {
    deltaX,
    deltaY,
    deltaMode,
    ctrlKey,
    metaKey,
    shiftKey,
  }: Pick<WheelEvent, "deltaX" | "deltaY" | "deltaMode" | "ctrlKey" | "metaKey" | "shiftKey">,
  isAxis: boolean,
  pageHeight: number,
): WheelMove {
  const unit = deltaMode === 1 ? LINE : deltaMode === 2 ? pageHeight : 1;
  const [x, y] = [deltaX * unit, deltaY * unit];
  if (ctrlKey || metaKey || (isAxis && !shiftKey && x === 0))
    return { zoom: Math.max(-MOST, Math.min(y, MOST)) * ZOOM, pan: 0, scroll: 0 };
  // Some browsers turn the axis themselves when Shift is held.
  if (shiftKey) return { zoom: 0, pan: x === 0 ? y : x, scroll: 0 };
  return { zoom: 0, pan: x, scroll: y };
}
