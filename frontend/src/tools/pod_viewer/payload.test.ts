import { expect, test } from "vitest";
import { cellOf, parsePod } from "./payload";
import { samplePod } from "./sample.test_helper";
import { slowestTimes, usualStep } from "./view";

test("totals in µs, absent cells, phases that occur, titles by host", () => {
  const pod = parsePod(samplePod());
  expect([...pod.total.slice(0, 3)].map(Math.round)).toEqual([100, 110, 30]);
  expect(pod.total[cellOf(pod, 3, 0)]).toBeNaN();
  expect(pod.phases.map(({ id, label, color }) => [id, label, color])).toEqual([
    [1, "Device compute", "var(--c-compute16)"],
    [3, "Device collectives", "var(--c-collective)"],
    [6, "Input", "var(--c-input)"],
  ]);
  expect(pod.phases[0].permille[cellOf(pod, 3, 0)]).toBe(-1);
  expect(pod.workers.titles[2]).toBe("TPU:0 · pod-w-1.eu");
  expect(pod.workers.shortTitles[2]).toBe("TPU:0 · w-1");
  expect(pod.steps.start).toEqual([0, 1500, Number.NaN]);
  expect(pod.steps.isTruncated).toEqual([false, false, true]);
});

test("where cores are, as far as the trace says", () => {
  expect(parsePod(samplePod()).workers.places).toEqual(["", "", "", ""]);
  const workers = samplePod().workers as Record<string, unknown>;
  const pod = parsePod(
    samplePod({
      workers: {
        ...workers,
        chip_id: [0, 0, 1, null],
        node_id: [0, 1, 0, null],
        replica_id: [0, 1, null, 3],
      },
    }),
  );
  expect(pod.workers.places).toEqual([
    "Chip 0 of the pod · core 0 · replica 0",
    "Chip 0 of the pod · core 1 · replica 1",
    "Chip 1 of the pod · core 0",
    "Replica 3",
  ]);
});

test("cells that were not recorded", () => {
  expect(parsePod(samplePod()).unrecorded.size).toBe(0);
  const pod = parsePod(samplePod({ unrecorded: [9] }));
  expect(pod.unrecorded.has(cellOf(pod, 3, 0))).toBe(true);
});

test("a straggler names its phase; one of a worker that is not there is left out", () => {
  expect(parsePod(samplePod()).stragglers).toEqual([
    {
      worker: 2,
      name: "TPU:0",
      title: "TPU:0 · pod-w-1.eu",
      reference: "TPU:0 · pod-w-0.eu",
      late: 20,
      low: 15,
      high: 25,
      wait: 20,
      share: 0.19,
      phase: "Input",
      lastSteps: 2,
      steps: 4,
    },
  ]);
});

test("what marks the steps", () => {
  const pod = parsePod(samplePod());
  expect(pod.markers.map(({ name, isCurrent }) => [name, isCurrent])).toEqual([
    ["train", true],
    ["f", false],
  ]);
  expect(pod.property("step_source")).toBe("markers");
  expect(pod.property("is_inferred")).toBe("false");
  expect(pod.property("nothing")).toBe("");
});

test("no steps", () => {
  const none = { number: [], label: [], start_ms: [], is_truncated: [] };
  const pod = parsePod(samplePod({ steps: none, total: [], share_permille: {}, stragglers: [] }));
  expect(pod.steps.count).toBe(0);
  expect(pod.total.length).toBe(0);
});

test.each([
  [null],
  [[]],
  [{ steps: {}, workers: null }],
  [samplePod({ total: [1, 2] })],
  [samplePod({ share_permille: { "1": [1] } })],
])("%# is not a pod", (json) => {
  expect(() => parsePod(json)).toThrow();
});

test("the usual step is the middle one of the whole ones by its slowest worker", () => {
  const pod = parsePod(samplePod());
  const slowest = slowestTimes(pod);
  expect([...slowest].map(Math.round)).toEqual([100, 110, 30]);
  expect(usualStep(pod, slowest)).toBe(1);
});
