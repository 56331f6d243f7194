import { expect, test } from "vitest";
import { tableJson } from "../../widgets/table/sample.test_helper";
import { parseOverview } from "./payload";
import { samplePayload } from "./sample.test_helper";

const overview = (kind: "gpu" | "tpu" | "cpu" | "none") =>
  parseOverview(samplePayload({ kind, steps: 10 }));

test("findings keep their order, links and what they would save", () => {
  const [input, precision, launch] = overview("gpu").findings;
  expect(input).toMatchObject({
    severity: "high",
    value: 31.6,
    gainMs: 1.07,
    evidence: {
      tool: "framework_op_stats",
      view: { "f.operation": "Iterator", filters: "1" },
    },
    next: { tool: "input_pipeline_analyzer", label: "Input pipeline" },
  });
  expect(precision.gainRatio).toBe(0.118);
  expect(launch).toMatchObject({
    severity: "good",
    evidence: null,
    next: null,
    gainMs: Number.NaN,
  });
});

test("a finding that this page itself shows leads nowhere else", () => {
  const table = tableJson({
    evidence_tool: ["overview_page"],
    tool: ["trace_viewer"],
    tool_query: ["q=category%3Alaunch&step=7&hosts=h%2C1"],
    title: ["t"],
  });
  const [finding] = parseOverview([{}, {}, {}, {}, {}, {}, {}, table]).findings;
  expect(finding).toMatchObject({
    evidence: null,
    next: { tool: "trace_viewer", view: { q: "category:launch", step: "7" }, hosts: ["h,1"] },
  });
});

test("what was not measured is not zero, and says why", () => {
  const { figures } = overview("tpu");
  expect(figures.get("mxu_utilization")).toMatchObject({
    value: Number.NaN,
    reason: "the trace has no such counter",
  });
  expect(figures.get("hbm_utilization")?.value).toBe(41.2);
});

test.each(["gpu", "tpu", "cpu"] as const)("%s: the parts of every step sum to it", (kind) => {
  const { steps, isTpu } = overview(kind);
  expect(isTpu).toBe(kind === "tpu");
  for (let step = 0; step < steps.count; step++) {
    const sum = steps.series.reduce((total, { values }) => total + values[step], 0);
    expect(sum).toBeCloseTo(steps.total[step], 6);
  }
});

test("without steps the rest is still there", () => {
  const { steps, environment, diagnostics, markers } = overview("none");
  expect([steps.count, environment.length, markers.length]).toEqual([0, 7, 0]);
  expect(diagnostics[0].message).toMatch(/No step/);
  expect(steps.property("step_note")).toMatch(/nothing repeats/);
});

test("tables of an older server may be missing or empty objects", () => {
  const few = parseOverview(samplePayload({ kind: "gpu", steps: 3 }).slice(0, 7));
  expect([few.findings, few.markers, few.breakdown]).toEqual([[], [], []]);
  expect(few.steps.count).toBe(3);
  expect(parseOverview([{}, {}]).steps.count).toBe(0);
});

test.each([[null], [{}], [[]], [[{}]], [[{ cols: [{}] }, { cols: 1 }]]])(
  "%j is refused",
  (json) => {
    expect(() => parseOverview(json)).toThrow();
  },
);

test("a warning that every table has is said once", () => {
  const warnings = [{ code: "damaged", message: "lost", host: "h", hint: "" }];
  const tables = samplePayload({ kind: "gpu", steps: 3 }).map((table) => ({
    ...(table as object),
    warnings,
  }));
  expect(parseOverview(tables).warnings).toEqual(warnings);
});
