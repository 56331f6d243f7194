import { expect, test } from "vitest";
import { toLab } from "../../base/oklab";
import { makeRamp, RAMP_LENGTH, rampIndex } from "./heat_map/ramp";
import { chooseMeasure, findDomain, findMeasures, measureValues } from "./measures";
import { parsePod } from "./payload";
import { samplePod } from "./sample.test_helper";
import { shortNames } from "./short_names";

test("step time, time without collectives, and the share of each phase", () => {
  const pod = parsePod(samplePod());
  const measures = findMeasures(pod);
  expect(measures.map(({ id }) => id)).toEqual(["time", "own", "1", "3", "6"]);
  const first = (id: string) => measureValues(pod, chooseMeasure(pod, measures, id))[6];
  expect(first("time")).toBeCloseTo(100);
  expect(first("own")).toBeCloseTo(90);
  expect(first("6")).toBeCloseTo(30);
  expect(measureValues(pod, chooseMeasure(pod, measures, "6"))[9]).toBeNaN();
  expect(measureValues(pod, chooseMeasure(pod, measures, "own"))[9]).toBeNaN();
  expect(chooseMeasure(pod, measures, undefined).id).toBe("own");
  expect(chooseMeasure(pod, measures, "7").id).toBe("own");
});

test("colors span the values of whole steps without those far out", () => {
  const values = Float32Array.of(2000, 100, 101, 102, 103, 104, 105, 30);
  const isTruncated = [false, false, false, false, false, false, false, true];
  expect(findDomain(values, isTruncated)).toMatchObject({ least: 30, most: 2000 });
  expect(findDomain(values, isTruncated).low).toBeCloseTo(97.375);
  expect(findDomain(values, isTruncated).high).toBeCloseTo(107.625);
  expect(findDomain(values, isTruncated, true).low).toBe(0);
  expect(findDomain(values, isTruncated, false, 106).high).toBe(106);
  const wide = Float32Array.of(50, 60, 70, 80);
  expect(findDomain(wide, [false, false, false, false])).toMatchObject({ low: 50, high: 80 });
});

test("equal values are in the middle; one value, none", () => {
  const equal = findDomain(Float32Array.of(50, 50), [false, false]);
  expect(equal).toMatchObject({ low: 47.5, high: 52.5 });
  expect(findDomain(Float32Array.of(0), [false])).toMatchObject({ low: 0, high: 1 });
  expect(findDomain(Float32Array.of(100), [true], false, 100)).toMatchObject({
    low: 95,
    high: 100,
  });
  expect(findDomain(Float32Array.of(Number.NaN), [false])).toMatchObject({ low: 0, high: 1 });
});

test.each([false, true])("the ramp is even in lightness, dark page %j", (isDark) => {
  const ramp = makeRamp(isDark);
  const lightness = Array.from({ length: RAMP_LENGTH }, (_, index) => {
    const hex = [...ramp.slice(index * 3, index * 3 + 3)].map((value) =>
      value.toString(16).padStart(2, "0"),
    );
    return toLab(`#${hex.join("")}`)[0];
  });
  const steps = lightness
    .slice(1)
    .map((value, index) => (value - lightness[index]) * (isDark ? 1 : -1));
  const even = Math.abs(lightness[255] - lightness[0]) / 255;
  expect(even * 255).toBeGreaterThan(0.6);
  for (const step of steps) expect(Math.abs(step - even)).toBeLessThan(even * 1.5);
  expect(rampIndex(-1)).toBe(0);
  expect(rampIndex(2)).toBe(255);
});

test.each([
  [
    ["t1v-n-ab-w-0.eu", "t1v-n-ab-w-10.eu"],
    ["w-0", "w-10"],
  ],
  [
    ["worker-0", "worker-1"],
    ["worker-0", "worker-1"],
  ],
  [
    ["host-10", "host-11"],
    ["host-10", "host-11"],
  ],
  [
    ["10.0.0.1_6000", "10.0.0.2_6000"],
    ["0.1", "0.2"],
  ],
  [
    ["h0", "h1"],
    ["h0", "h1"],
  ],
  [["a"], ["a"]],
  [
    ["a-b", "a-b-c"],
    ["a-b", "a-b-c"],
  ],
])("%j", (names, short) => {
  expect(shortNames(names)).toEqual(short);
});
