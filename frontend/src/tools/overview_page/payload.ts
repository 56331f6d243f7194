/** The tables of overview_page. Contract: docs/http_api.md. */
import { parseTables, type Row, readRows } from "../../api/data_table";
import { readDiagnostics } from "../../widgets/text/diagnostics";
import { readSeverity } from "../../widgets/text/finding_list";
import { parseTarget } from "../links/tool_link";
import { readMarkers } from "../steps/markers";
import { readStepTable } from "../steps/step_table";

export type Overview = Readonly<ReturnType<typeof parseOverview>>;
export type Finding = Readonly<ReturnType<typeof toFinding>>;
export type Reading = Readonly<ReturnType<typeof toReading>>;
export type StepBreakdown = Readonly<ReturnType<typeof toStepBreakdown>>;
export type IdlePart = Readonly<ReturnType<typeof toIdlePart>>;
export type EnvironmentFact = Readonly<ReturnType<typeof toFact>>;

const OPS = 0;
const STEPS = 1;
const RUN = 2;
const DIAGNOSTICS = 6;
const FINDINGS = 7;
const FIGURES = 8;
const BREAKDOWN = 9;
const ENVIRONMENT = 10;
const MARKERS = 11;
const IDLE = 12;
const FAMILIES = 13;

export function parseOverview(json: unknown) {
  const { table, warnings } = parseTables(json, 2, "the overview");
  const steps = readStepTable(table(STEPS));
  return {
    steps,
    ops: readRows(table(OPS), toTopOp),
    /** The same with ops merged that differ only in numbers; empty if there are none. */
    families: readRows(table(FAMILIES), toTopOp),
    /** Whether `families` is the default. */
    isByFamily: table(FAMILIES).properties.usual === "yes",
    /** The largest gain first. */
    findings: readRows(table(FINDINGS), toFinding),
    figures: new Map(readRows(table(FIGURES), (row) => [row.text("id"), toReading(row)])),
    /** The parts of the average step, from the top of the stack. */
    breakdown: readRows(table(BREAKDOWN), toStepBreakdown),
    /** What threads did in “All others”, longest first. */
    idle: readRows(table(IDLE), toIdlePart),
    environment: readRows(table(ENVIRONMENT), toFact),
    markers: readMarkers(table(MARKERS)),
    diagnostics: readDiagnostics(table(DIAGNOSTICS)),
    warnings,
    isTpu:
      steps.property("hardware_type") === "TPU" ||
      /\bTPU/.test(String(table(RUN).properties.device_type ?? "")),
  };
}

function toFinding(row: Row) {
  const tool = row.text("tool");
  const shown = row.text("evidence_tool") || tool;
  const evidence = shown === "overview_page" ? "" : shown;
  return {
    id: row.text("id"),
    severity: readSeverity(row.text("severity")),
    title: row.text("title"),
    detail: row.text("detail"),
    value: row.number("value"),
    unit: row.text("unit"),
    /** Per step in ms; NaN if unknown. */
    gainMs: row.number("gain_ms"),
    /** 0–1 of the step. */
    gainRatio: row.number("gain_ratio"),
    action: row.text("action"),
    /** The value above which it is reported; NaN if it always is. */
    threshold: row.number("threshold"),
    /** The page with the evidence; null if that is this page. */
    evidence:
      evidence === "" ? null : { tool: evidence, ...parseTarget(row.text("evidence_query")) },
    /** The page to look at next. */
    next:
      tool === "" || tool === evidence
        ? null
        : { tool, label: row.text("tool_label"), ...parseTarget(row.text("tool_query")) },
    guide: { title: row.text("guide_title"), url: row.text("guide_url") },
  };
}

function toTopOp(row: Row) {
  return {
    name: row.text("operation"),
    category: row.text("category"),
    /** 0–1 of the device's op time. */
    share: row.number("selfTimePercent"),
    running: row.number("cumulativeTimePercent"),
    /** The number of ops in a family; NaN for a single op. */
    count: row.number("ops"),
  };
}

function toIdlePart(row: Row) {
  return {
    id: row.text("id"),
    label: row.text("label"),
    ms: row.number("ms"),
    /** The id of the row that includes its time, or "". */
    parent: row.text("parent"),
  };
}

function toStepBreakdown(row: Row) {
  return {
    ...toIdlePart(row),
    /** NaN if it is undefined. */
    deviationMs: row.number("deviation"),
  };
}

function toFact(row: Row) {
  return {
    id: row.text("id"),
    label: row.text("label"),
    value: row.text("value"),
    note: row.text("note"),
    host: row.text("host"),
  };
}

function toReading(row: Row) {
  return {
    label: row.text("label"),
    /** NaN if not measured. */
    value: row.number("value"),
    unit: row.text("unit"),
    text: row.text("text"),
    reason: row.text("reason"),
    /** A note on the value, such as why it is above 100 %. */
    note: row.text("note"),
    explanation: row.text("explanation"),
  };
}
