/** Event colors: 24 hues of equal lightness for names, and the colors that have a meaning. */
import { toLab, toRgb } from "../../base/oklab";
import { textColorOn } from "../../base/palette";

export const HUES = 24;
/** OKLab lightness at which dark text is readable and fills stand out from the page. */
const LIGHTNESS = { light: 0.77, dark: 0.72 };
/** Adjacent hues also differ in chroma. */
const CHROMAS = [0.125, 0.075];

/** Custom properties "--c-…" of styles/tokens.css. */
const MEANING_NAMES = [
  "compute16",
  "compute32",
  "compute",
  "input",
  "output",
  "launch",
  "host",
  "collective",
  "copy",
  "compile",
  "idle",
] as const;

/** The index of a fill: a hue, or HUES plus the index of a meaning. */
export type ColorIndex = number;

/** Idle, and all that has no other meaning. */
export const GRAY: ColorIndex = HUES + MEANING_NAMES.indexOf("idle");

/** 0xAABBGGRR, as pixels lie in memory. */
export type Pixel = number;

export type EventColors = Readonly<ReturnType<typeof makeColors>>;

/** `resolve` gives the color of a custom property as "rgb(r, g, b)". */
export function makeColors(resolve: (property: string) => string) {
  const of = (property: string) => parseRgb(resolve(property));
  const background = of("--background");
  const text = of("--text");
  const isDark = sum(background) < 384;
  const hues = hueColors(isDark);
  const meanings = MEANING_NAMES.map((name) => of(`--c-${name}`));
  const textColor = resolve("--ink");
  const counter = of("--c-host");
  const fills = Uint32Array.from([...hues, ...meanings], toPixel);
  const textColors = [
    ...hues.map(() => textColor),
    ...MEANING_NAMES.map((name) => resolve(textColorOn(`var(--c-${name})`).slice(4, -1))),
  ];
  return {
    isDark,
    /** [HUES + meanings] */
    fills,
    /** Text colors on the fills, as CSS. */
    textColors,
    /** The same by fill. */
    textUpon: new Map(textColors.map((color, index) => [fills[index], color])),
    background: toPixel(background),
    header: toPixel(of("--panel")),
    separator: toPixel(of("--border")),
    /** Between the pinned lanes and the others. */
    pinned: toPixel(of("--control-border")),
    grid: toPixel(mix(of("--border"), background, 0.35)),
    /** For times whose events are not loaded yet. */
    unknown: toPixel(of("--hover")),
    busy: toPixel(of("--c-compute")),
    counter: toPixel(mix(counter, background, 0.45)),
    counterSpread: toPixel(mix(counter, background, 0.7)),
    counterEdge: toPixel(counter),
    match: toPixel(of("--danger")),
    same: toPixel(text),
    /** Of lines and texts. */
    css: {
      background: resolve("--background"),
      panel: resolve("--panel"),
      text: resolve("--text"),
      muted: resolve("--muted"),
      border: resolve("--border"),
      accent: resolve("--accent"),
      onAccent: resolve("--on-accent"),
      selected: resolve("--selected"),
    },
  };
}

/** [HUES] RGB of 0–255, around the circle. */
export function hueColors(isDark: boolean): number[][] {
  const lightness = isDark ? LIGHTNESS.dark : LIGHTNESS.light;
  return Array.from({ length: HUES }, (_, index) => {
    const angle = ((index + 0.5) / HUES) * 2 * Math.PI;
    let chroma = CHROMAS[index % CHROMAS.length];
    // The highest chroma up to this one that sRGB can show at this lightness.
    for (; ; chroma -= 0.005) {
      const rgb = toRgb([lightness, chroma * Math.cos(angle), chroma * Math.sin(angle)]);
      const hex = rgb.map((part) => part.toString(16).padStart(2, "0")).join("");
      if (Math.abs(toLab(`#${hex}`)[0] - lightness) < 0.004) return rgb;
    }
  });
}

/** A hash (FNV-1a): the same name has the same hue on every page and in every trace. */
export function hueOfName(name: string): ColorIndex {
  let hash = 0x811c9dc5;
  for (let index = 0; index < name.length; index++)
    hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193) >>> 0;
  // Hashes of short names differ little in their low bits.
  return ((hash ^ (hash >>> 13)) >>> 0) % HUES;
}

/** Consecutive numbers get hues that are far apart. */
export function hueOfNumber(at: number): ColorIndex {
  return (at * 7) % HUES;
}

/** The color of a meaning; gray if there is none. */
export function colorOfMeaning(meaning: string): ColorIndex {
  const index = MEANING_NAMES.indexOf(meaning as (typeof MEANING_NAMES)[number]);
  return index < 0 ? GRAY : HUES + index;
}

/** Parses "rgb(1, 2, 3)" or "#010203"; anything else is black. */
export function parseRgb(color: string): number[] {
  const hex = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(color);
  if (hex) return hex.slice(1).map((part) => Number.parseInt(part, 16));
  const parts = color.match(/\d+(\.\d+)?/g) ?? [];
  return [0, 1, 2].map((index) => Math.round(Number(parts[index] ?? 0)));
}

function toPixel(rgb: readonly number[]): Pixel {
  return ((255 << 24) | (rgb[2] << 16) | (rgb[1] << 8) | rgb[0]) >>> 0;
}

export function toCss(pixel: Pixel): string {
  return `rgb(${pixel & 255}, ${(pixel >>> 8) & 255}, ${(pixel >>> 16) & 255})`;
}

/** Linear interpolation: `other` if `part` is 1. */
function mix(one: readonly number[], other: readonly number[], part: number): number[] {
  return one.map((value, index) => Math.round(value + (other[index] - value) * part));
}

function sum(rgb: readonly number[]): number {
  return rgb[0] + rgb[1] + rgb[2];
}
