/** Interprets wheel events. */

interface WheelMove {
  /** Exponent of e by which the view widens. */
  readonly zoom: number;
  /** CSS pixels along the time axis, and down. */
  readonly pan: number;
  readonly scroll: number;
}

/** CSS pixels per line, for wheels that count in lines. */
const LINE = 40;
/** Zoom per CSS pixel of the wheel, and the maximum per event. */
const ZOOM = 0.0075;
const MOST = 60;

/** Plain: scrolls. Shift: pans. Ctrl (also set by touchpad pinches) or over the axis: zooms. */
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
  // Some browsers swap the axes themselves when Shift is held.
  if (shiftKey) return { zoom: 0, pan: x === 0 ? y : x, scroll: 0 };
  return { zoom: 0, pan: x, scroll: y };
}
