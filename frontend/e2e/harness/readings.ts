/** Numbers that pages write, read back: what stands there must be the value but for its last digit. */
import { expect } from "vitest";

const TIMES: Readonly<Record<string, number>> = { ns: 1e-3, µs: 1, ms: 1e3, s: 1e6 };

/** The first time in a text is `us` microseconds. */
export function expectTime(text: string, us: number): void {
  const match = /(?<![\d.])([\d,]+(?:\.\d+)?)\s(ns|µs|ms|s)\b/.exec(text);
  const unit = TIMES[match?.[2] ?? ""] ?? Number.NaN;
  expectNumber(match?.[1], us / unit, text);
}

/** The first percentage in a text is `percent`. */
export function expectPercent(text: string, percent: number): void {
  const match = /(?<![\d.])([\d,]+(?:\.\d+)?)\s%/.exec(text);
  if (text.includes("<0.1 %")) expect(percent).toBeLessThan(0.05001);
  else expectNumber(match?.[1], percent, text);
}

/** `written` is `value`, but for half of its last digit. */
export function expectNumber(written: string | undefined, value: number, text = written): void {
  expect(written, `a number in “${text}” for ${value}`).toBeDefined();
  const plain = (written ?? "").replaceAll(",", "");
  const decimals = plain.split(".")[1]?.length ?? 0;
  const message = `“${text}” is ${value}`;
  expect(Math.abs(Number(plain) - value), message).toBeLessThanOrEqual(0.5001 * 10 ** -decimals);
}
