import { expect, test } from "vitest";
import { parseOverview } from "../payload";
import { samplePayload } from "../sample.test_helper";
import { averageParts, barParts, idleRows, partsOfStep } from "./step_parts";

const { steps, breakdown, idle } = parseOverview(samplePayload({ kind: "gpu", steps: 10 }));

test("the average step is what the server's table says, parts of nothing left out", () => {
  const { total, rows } = averageParts(steps, breakdown);
  expect(total).toBeCloseTo(3400);
  expect(rows.map(({ id }) => id)).toEqual([
    "other",
    "compilation",
    "output",
    "input",
    "kernel_launch",
    "host_compute",
    "collectives",
    "device_to_device",
    "device_compute",
    "compute_32",
    "compute_16",
    "compute_unknown",
  ]);
  expect(rows.find(({ id }) => id === "input")).toMatchObject({
    time: 1070,
    deviation: 300,
    color: "var(--c-input)",
  });
  expect(rows.find(({ id }) => id === "collectives")?.deviation).toBeNull();
});

test.each([
  ["the average", averageParts(steps, breakdown)],
  ["the average without the server's table", averageParts(steps, [])],
  ["a step", partsOfStep(steps, 3)],
])("the bar of %s is the whole, and no part is in it twice", (_, { rows }) => {
  const bar = barParts(rows);
  expect(bar.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1);
  expect(bar.some(({ id }) => id === "device_compute")).toBe(false);
});

test("where compute is of one kind the bar still has it", () => {
  const bar = barParts(
    averageParts(
      steps,
      breakdown.filter(({ parent }) => parent === ""),
    ).rows,
  );
  expect(bar.find(({ id }) => id === "device_compute")?.share).toBeCloseTo(0.529, 2);
});

test("compute of one precision has that precision's color", () => {
  const single = breakdown.filter(({ id, parent }) => parent === "" || id === "compute_32");
  const row = averageParts(steps, single).rows.find(({ id }) => id === "device_compute");
  expect(row?.color).toBe("var(--c-compute32)");
});

test("a step without device compute still has its row", () => {
  const cpu = parseOverview(samplePayload({ kind: "cpu", steps: 3 })).steps;
  const row = partsOfStep(cpu, 1).rows.find(({ id }) => id === "device_compute");
  expect(row).toMatchObject({ time: 0, share: 0 });
});

test("what threads did adds up to all others, and a function is part of Python", () => {
  const { total, rows } = idleRows(idle);
  expect(total).toBeCloseTo(150);
  expect(rows.map(({ id, isPart }) => [id, isPart])).toEqual([
    ["python", false],
    ["python.0", true],
    ["uncovered", false],
  ]);
  expect(rows[1]).toMatchObject({ color: "var(--c-host)", time: 100 });
  const shares = rows.filter(({ isPart }) => !isPart).map(({ share }) => share);
  expect(shares[0] + shares[1]).toBeCloseTo(1);
  expect(idleRows([]).total).toBe(0);
});
