/**
 * A session in the trace viewer as benchmarks replay it: what the hands do, one input a frame.
 * Places are parts of the canvas: [0, 0] its left upper corner, [1, 1] its right lower one.
 */

/** A key that is held, or pressed once where `frames` is 1. */
const hold = (key, frames) => ({ kind: "key", key, frames });
/** Turns of the wheel: positive scrolls down. */
const scroll = (frames, turn) => ({ kind: "wheel", frames, turn, isZoom: false, at: [0.5, 0.4] });
/** With Ctrl: negative is nearer, at the pointer. */
const zoom = (frames, turn, at) => ({ kind: "wheel", frames, turn, isZoom: true, at });
/** With the left button, by the tool that is in force. */
const drag = (frames, from, to) => ({ kind: "drag", frames, from, to });
/** The pointer alone. */
const point = (frames, from, to) => ({ kind: "move", frames, from, to });

export const SESSION = [
  // From the whole trace into a step, along it and back.
  hold("0", 40),
  zoom(45, -60, [0.45, 0.3]),
  hold("2", 1),
  drag(60, [0.8, 0.3], [0.2, 0.3]),
  drag(60, [0.2, 0.35], [0.8, 0.3]),
  point(40, [0.1, 0.1], [0.9, 0.6]),
  scroll(40, 90),
  scroll(40, -90),
  zoom(45, 60, [0.6, 0.5]),
  // The same by keys.
  hold("w", 60),
  hold("d", 60),
  hold("a", 80),
  hold("s", 60),
  // To where single events have their names, and out of there in one go.
  zoom(90, -60, [0.5, 0.25]),
  hold("d", 60),
  scroll(40, 60),
  drag(40, [0.7, 0.3], [0.3, 0.5]),
  zoom(120, 60, [0.5, 0.25]),
  // All tracks from the first to the last, at the whole trace.
  hold("0", 40),
  scroll(90, 120),
  scroll(90, -120),
  hold("1", 1),
];
