/** A sequential color ramp of uniform lightness steps, readable with color vision deficiencies. */
import { type Lab, toLab, toRgb } from "../../../base/oklab";

/** RGB triples, lowest value first. */
export type Ramp = Uint8Array<ArrayBuffer>;

export const RAMP_LENGTH = 256;

/** From pale yellow through green to dark blue, with decreasing lightness. */
const PATH = ["#fffbd6", "#d9efb1", "#8fd3b6", "#46afc3", "#2b7fb8", "#27509b", "#15225e"];

/** Larger values contrast more with the background: darker on light pages, lighter on dark ones. */
export function makeRamp(isDark: boolean): Ramp {
  const path = PATH.map(toLab);
  const [top, bottom] = [path[0][0], path.at(-1)![0]];
  const ramp = new Uint8Array(RAMP_LENGTH * 3);
  for (let index = 0; index < RAMP_LENGTH; index++) {
    const part = index / (RAMP_LENGTH - 1);
    const lightness = isDark ? bottom + (top - bottom) * part : top + (bottom - top) * part;
    ramp.set(toRgb(atLightness(path, lightness)), index * 3);
  }
  return ramp;
}

export function rampColor(ramp: Ramp, part: number): string {
  const index = rampIndex(part) * 3;
  return `rgb(${ramp[index]}, ${ramp[index + 1]}, ${ramp[index + 2]})`;
}

/** The index at `part`, 0–1 of the ramp; clamped to its ends. */
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
