/** The viewport of a graph: taken from the address, and updated at once while panning. */
import { useEffect, useRef, useState } from "preact/hooks";
import { useHeight, useWidth } from "../../chart/use_size";
import type { PlacedGraph } from "../shapes";
import { boxesIn, firstLook, formatLook, type Look, parseLook, type Size } from "./viewport";

/** The address is updated only after a pause. */
const PAUSE_MS = 300;

export interface LookState {
  readonly look: Look;
  readonly frame: Size;
  readonly change: (next: (look: Look) => Look) => void;
  /** Keeps the viewport when the frame is resized. */
  readonly hold: () => void;
}

export function useLook(
  element: { readonly current: HTMLElement | null },
  layout: PlacedGraph,
  /** The frame's own height in CSS pixels; a taller neighbor may stretch it. */
  height: number,
  focus: number,
  inAddress: string | undefined,
  select: (patch: { look: string }) => void,
): LookState {
  const frame = { width: useWidth(element), height: useHeight(element) };
  const [moving, setMoving] = useState<Look | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const written = useRef<string | undefined>(undefined);
  const stop = () => {
    clearTimeout(timer.current);
    setMoving(null);
  };
  useEffect(stop, [layout]);
  // An address from elsewhere, as after Back, ends panning. Our own address may arrive late, when the
  // next movement has begun, and does not.
  useEffect(() => {
    if (inAddress === undefined || inAddress !== written.current) stop();
  }, [inAddress]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const box = layout.nodes.find(({ node }) => node === focus) ?? layout.nodes.at(-1);
  const given = parseLook(inAddress);
  const isGraph = given !== null && (frame.width === 0 || boxesIn(layout, given, frame) > 0);
  const look =
    moving ??
    (isGraph
      ? given
      : firstLook(layout, { ...frame, height: Math.min(frame.height, height) }, box));
  const latest = useRef(look);
  latest.current = look;
  const change = (next: (from: Look) => Look) => {
    const to = next(latest.current);
    if (to === latest.current) return;
    latest.current = to;
    setMoving(to);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      written.current = formatLook(to);
      select({ look: written.current });
    }, PAUSE_MS);
  };
  return { look, frame, change, hold: () => change((from) => ({ ...from })) };
}
