import { expect, test } from "vitest";
import { parseMemory } from "../payload";
import { sampleMemory } from "../sample.test_helper";
import { drawMemorySvg } from "./timeline_picture";

/** The lines of steps in a picture of `count` steps. */
function stepLines(count: number): number {
  const numbers = Array.from({ length: count }, (_, index) => index);
  const steps = {
    label: numbers.map(String),
    begin_ps: numbers.map((at) => (at * 8e9) / count),
    end_ps: numbers.map((at) => ((at + 1) * 8e9) / count),
    peak_bytes: numbers,
    end_bytes: numbers,
    kept_bytes: numbers,
  };
  const memory = parseMemory(sampleMemory({ steps }));
  const window = { from: 0, to: 8e9, isZoomed: false };
  const svg = drawMemorySvg("memory", memory, window, new Set());
  return svg.split('stroke-dasharray="2 3"').length - 1;
}

test("steps begin and end at dashed lines, but where these would hide what is between", () => {
  expect(stepLines(2)).toBe(4);
  expect(stepLines(100)).toBe(0);
});
