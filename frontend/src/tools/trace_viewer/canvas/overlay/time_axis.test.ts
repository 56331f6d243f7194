import { expect, test } from "vitest";
import { timeAxis } from "./time_axis";

const texts = (from: number, to: number, width = 500) =>
  timeAxis({ from, to }, width).ticks.map(({ text }) => text);

test("ticks are round and in a unit that fits", () => {
  expect(texts(0, 1e9)).toEqual(["0", "0.2 ms", "0.4 ms", "0.6 ms", "0.8 ms", "1.0 ms"]);
  expect(texts(0, 3.2e9)).toEqual(["0", "1 ms", "2 ms", "3 ms"]);
  expect(texts(-1e11, 4e12)).toEqual(["0", "1 s", "2 s", "3 s", "4 s"]);
  expect(texts(0, 900)).toEqual(["0", "200 ps", "400 ps", "600 ps", "800 ps"]);
  expect(texts(0, 1.2e17)).toEqual(["0", "50,000 s", "100,000 s"]);
  expect(texts(0, 2.2e12)).toEqual(["0", "0.5 s", "1.0 s", "1.5 s", "2.0 s"]);
});

test("far from the begin, ticks count from a round origin nearby", () => {
  const axis = timeAxis({ from: 1.9190335e12, to: 1.9190336e12 }, 500);
  expect(axis.origin).toBe("1.919 s");
  expect(axis.ticks[0].text).toBe("+33.50 µs");
});

test("ticks count from where the recording began", () => {
  const begun = timeAxis({ from: 0, to: 1e9 }, 500, -3e8);
  expect(begun.ticks[0]).toEqual({ ps: 1e8, text: "0.4 ms" });
  const before = timeAxis({ from: 0, to: 1e9 }, 500, 2e8);
  expect(before.ticks.map(({ text }) => text).slice(0, 3)).toEqual(["-200 µs", "0", "200 µs"]);
});

test("ticks are never closer than can be read", () => {
  for (let span = 100; span < 1e14; span *= 1.7) {
    const { ticks } = timeAxis({ from: span * 0.3, to: span * 1.3 }, 1340);
    expect(ticks.length).toBeGreaterThan(1);
    for (let index = 1; index < ticks.length; index++) {
      const gap = ((ticks[index].ps - ticks[index - 1].ps) / span) * 1340;
      expect(gap).toBeGreaterThanOrEqual(83.9);
      expect(ticks[index].text).not.toBe(ticks[index - 1].text);
      expect(ticks[index].text.length).toBeLessThan(12);
    }
  }
});
