/** The tables of overview_page. Contract: docs/tools.md. */
import { type DataTable, parseTable, type Row, readRows } from "../../api/data_table";
import { PayloadError } from "../../api/errors";
import { isRecord, type Warning } from "../../api/types";
import type { Diagnostic } from "../../widgets/text/diagnostics";
import type { Severity } from "../../widgets/text/finding_list";
import { type LinkTarget, parseTarget } from "../links/tool_link";
import { type Marker, readMarkers } from "../steps/markers";
import { readStepTable, type StepTable } from "../steps/step_table";

export interface Overview {
  readonly steps: StepTable;
  readonly ops: readonly TopOp[];
  /** The largest gain first. */
  readonly findings: readonly Finding[];
  readonly figures: ReadonlyMap<string, Reading>;
  /** The average step, as its stack goes from the top. */
  readonly breakdown: readonly StepBreakdown[];
  /** What threads did in the part of it that nothing covers, longest first. */
  readonly idle: readonly IdlePart[];
  readonly environment: readonly Fact[];
  readonly markers: readonly Marker[];
  readonly diagnostics: readonly Diagnostic[];
  readonly warnings: readonly Warning[];
  readonly isTpu: boolean;
}

export interface TopOp {
  readonly name: string;
  readonly category: string;
  /** 0–1 of the device's op time. */
  readonly share: number;
  readonly running: number;
}

export interface Finding {
  readonly id: string;
  readonly severity: Severity;
  readonly title: string;
  readonly detail: string;
  readonly value: number;
  readonly unit: string;
  /** Per step in ms; NaN where not known. */
  readonly gainMs: number;
  /** 0–1 of the step. */
  readonly gainRatio: number;
  /** The value from which it is named; NaN where it is always. */
  readonly threshold: number;
  readonly action: string;
  /** The page that shows it, null where this page does. */
  readonly evidence: (LinkTarget & { readonly tool: string }) | null;
  /** The page to go on with. */
  readonly next: (LinkTarget & { readonly tool: string; readonly label: string }) | null;
  readonly guide: { readonly title: string; readonly url: string };
}

export interface Reading {
  readonly label: string;
  /** NaN where not measured. */
  readonly value: number;
  readonly unit: string;
  readonly text: string;
  readonly reason: string;
  readonly explanation: string;
}

export interface StepBreakdown {
  readonly id: string;
  readonly label: string;
  readonly ms: number;
  /** NaN where it is not defined. */
  readonly deviationMs: number;
  /** The id of the row that its time belongs to, "" for none. */
  readonly parent: string;
}

export interface IdlePart {
  readonly id: string;
  readonly label: string;
  readonly ms: number;
  /** The id of the row that its time belongs to, "" for none. */
  readonly parent: string;
}

export interface Fact {
  readonly id: string;
  readonly label: string;
  readonly value: string;
  readonly note: string;
  readonly host: string;
}

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

export function parseOverview(json: unknown): Overview {
  if (!Array.isArray(json) || json.length < 2)
    throw new PayloadError("the overview is not a list of tables");
  const tables = (json as unknown[]).map(tableOrNone);
  const table = (at: number) => tables[at] ?? NONE;
  const steps = readStepTable(table(STEPS));
  return {
    steps,
    ops: readRows(table(OPS), (row) => ({
      name: row.text("operation"),
      category: row.text("category"),
      share: row.number("selfTimePercent"),
      running: row.number("cumulativeTimePercent"),
    })),
    findings: readRows(table(FINDINGS), toFinding),
    figures: new Map(readRows(table(FIGURES), (row) => [row.text("id"), toReading(row)])),
    breakdown: readRows(table(BREAKDOWN), (row) => ({
      id: row.text("id"),
      label: row.text("label"),
      ms: row.number("ms"),
      deviationMs: row.number("deviation"),
      parent: row.text("parent"),
    })),
    idle: readRows(table(IDLE), (row) => ({
      id: row.text("id"),
      label: row.text("label"),
      ms: row.number("ms"),
      parent: row.text("parent"),
    })),
    environment: readRows(table(ENVIRONMENT), (row) => ({
      id: row.text("id"),
      label: row.text("label"),
      value: row.text("value"),
      note: row.text("note"),
      host: row.text("host"),
    })),
    markers: readMarkers(table(MARKERS)),
    diagnostics: readRows(table(DIAGNOSTICS), (row) => ({
      severity: row.text("severity"),
      message: row.text("message"),
    })).filter(({ message }) => message !== ""),
    warnings: distinct(tables.flatMap(({ warnings }) => warnings)),
    isTpu:
      steps.property("hardware_type") === "TPU" ||
      /\bTPU/.test(String(table(RUN).properties.device_type ?? "")),
  };
}

const NONE: DataTable = { columns: [], length: 0, properties: {}, warnings: [] };

/** Tables that a trace has nothing for may be empty objects. */
function tableOrNone(json: unknown): DataTable {
  return isRecord(json) && Array.isArray(json.cols) ? parseTable(json) : NONE;
}

const SEVERITIES: readonly Severity[] = ["high", "moderate", "low", "good"];

function toFinding(row: Row): Finding {
  const severity = SEVERITIES.find((candidate) => candidate === row.text("severity")) ?? "low";
  const tool = row.text("tool");
  const shown = row.text("evidence_tool") || tool;
  const evidence = shown === "overview_page" ? "" : shown;
  return {
    id: row.text("id"),
    severity,
    title: row.text("title"),
    detail: row.text("detail"),
    value: row.number("value"),
    unit: row.text("unit"),
    gainMs: row.number("gain_ms"),
    gainRatio: row.number("gain_ratio"),
    action: row.text("action"),
    threshold: row.number("threshold"),
    evidence:
      evidence === "" ? null : { tool: evidence, ...parseTarget(row.text("evidence_query")) },
    next:
      tool === "" || tool === evidence
        ? null
        : { tool, label: row.text("tool_label"), ...parseTarget(row.text("tool_query")) },
    guide: { title: row.text("guide_title"), url: row.text("guide_url") },
  };
}

function toReading(row: Row): Reading {
  return {
    label: row.text("label"),
    value: row.number("value"),
    unit: row.text("unit"),
    text: row.text("text"),
    reason: row.text("reason"),
    explanation: row.text("explanation"),
  };
}

function distinct(warnings: readonly Warning[]): Warning[] {
  const seen = new Map(warnings.map((warning) => [JSON.stringify(warning), warning]));
  return [...seen.values()];
}
