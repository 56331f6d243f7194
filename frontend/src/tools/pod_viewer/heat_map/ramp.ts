/** Colours for amounts: from pale to strong, evenly lighter or darker, which all eyes can order. */
import { type Lab, toLab, toRgb } from "../../../base/oklab";

/** RGB triples, least first. */
export type Ramp = Uint8Array<ArrayBuffer>;

export const RAMP_LENGTH = 256;

/** From pale yellow over green to dark blue; its lightness falls all the way. */
const PATH = ["#fffbd6", "#d9efb1", "#8fd3b6", "#46afc3", "#2b7fb8", "#27509b", "#15225e"];

/** More is further from the background: darker on a light page, lighter on a dark one. */
export function makeRamp(isDark: boolean): Ramp {
  const path = PATH.map(toLab);
  const [top, bottom] = [path[0][0], path.at(-1)![0]];
  const ramp = new Uint8Array(RAMP_LENGTH * 3);
  for (let at = 0; at < RAMP_LENGTH; at++) {
    const part = at / (RAMP_LENGTH - 1);
    const lightness = isDark ? bottom + (top - bottom) * part : top + (bottom - top) * part;
    ramp.set(toRgb(atLightness(path, lightness)), at * 3);
  }
  return ramp;
}

export function rampColor(ramp: Ramp, part: number): string {
  const at = rampIndex(part) * 3;
  return `rgb(${ramp[at]}, ${ramp[at + 1]}, ${ramp[at + 2]})`;
}

/** `part` 0–1 of the way; what lies beyond has the colour of the end. */
export function rampIndex(part: number): number {
  return Math.round(Math.max(0, Math.min(part, 1)) * (RAMP_LENGTH - 1));
}

function atLightness(path: readonly Lab[], lightness: number): Lab {
  let next = path.findIndex(([l]) => l <= lightness);
  next = next < 0 ? path.length - 1 : Math.max(next, 1);
  const [from, to] = [path[next - 1], path[next]];
  const part = Math.max(0, Math.min((from[0] - lightness) / (from[0] - to[0]), 1));
  const mix = (at: 1 | 2) => from[at] + (to[at] - from[at]) * part;
  return [lightness, mix(1), mix(2)];
}
