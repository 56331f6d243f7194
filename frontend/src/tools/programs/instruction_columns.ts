/** Columns shared by tables of instructions. */
import { type DataTable, isMeasured, texts } from "../../api/data_table";
import type { ColumnSpec } from "../../widgets/table/columns";
import {
  explaining,
  nameSpec,
  numberSpec,
  rankSpec,
  TIME_UNIT,
  textSpec,
} from "../../widgets/table/specs";
import { PROGRAM } from "./program_column";

const EVENTS = "Device events that name an instruction of a program; on a CPU, thread events.";
const HLO = "The compiled program in the trace, or the event's own description of the instruction.";
export const WORK =
  "Recorded by the device, or computed from the shapes in the program. Includes bytes that " +
  "caches serve.";

export const ofEvents = explaining(EVENTS);
export const ofProgram = explaining(HLO);

export function rank(formula: string): ColumnSpec {
  return rankSpec(ofEvents(formula, "none"));
}

/** The sticky name column. */
export function named(id: string, title: string, formula: string): ColumnSpec {
  return nameSpec(id, title, 280, ofProgram(formula, "none"));
}

export const PROGRAM_NAME = "Program name and id";

/** Shown by default if the table has rows of several programs. */
export function program(table: DataTable, isOfOps = true): ColumnSpec {
  const isMany = new Set(texts(table, PROGRAM)?.codes ?? []).size > 1;
  const spec = textSpec(
    PROGRAM,
    "Program",
    150,
    isOfOps && isMany,
    ofProgram(PROGRAM_NAME, "none"),
  );
  return { ...spec, noun: "program" };
}

/** A text column with the program as its source. */
export function text(
  id: string,
  title: string,
  width: number,
  formula: string,
  isShown = false,
): ColumnSpec {
  return textSpec(id, title, width, isShown, ofProgram(formula, "none"));
}

export function source(isShown: boolean): ColumnSpec {
  const formula = "File and line that it was compiled from";
  return { ...text("source", "Source", 200, formula, isShown), noun: "line" };
}

export function elementType(isShown: boolean): ColumnSpec {
  return text("dtype", "Type", 64, "Main element type of its computation", isShown);
}

export const SELF_TIME: ColumnSpec = {
  ...numberSpec("total_self_time", "Self", "time", 92),
  hasBar: true,
  explanation: ofEvents("Total minus the time in nested ops", TIME_UNIT),
};

export function executions(isShown: boolean): ColumnSpec {
  return {
    ...numberSpec("occurrences", "Executions", "count", 96),
    isShown,
    explanation: ofEvents("Number of times it ran", "executions"),
  };
}

export const SPAN_TIME: ColumnSpec = {
  ...numberSpec("span_time", "Working time", "time", 120),
  isShown: false,
  explanation: ofEvents(
    "Time that rates are based on: the total; for copies and collectives that overlap with " +
      "other ops, the time from start to done",
    TIME_UNIT,
  ),
};

export function rate(
  id: string,
  title: string,
  unit: string,
  formula: string,
  isShown: boolean,
): ColumnSpec {
  return {
    ...numberSpec(id, title, "number", title.length > 10 ? 148 : 96),
    isShown,
    unit,
    group: { how: "mean", weight: "span_time" },
    explanation: { formula, unit, source: WORK },
  };
}

/** A share of a peak, shown by default if it is known; `peaks` is the source of the peaks. */
export function shareOfPeak(
  table: DataTable,
  id: string,
  title: string,
  width: number,
  formula: string,
  peaks: string,
): ColumnSpec {
  const unit = "percent; above 100 % if caches serve bytes";
  return {
    ...numberSpec(id, title, "ratio", width),
    isShown: isMeasured(table, id),
    group: { how: "mean", weight: "span_time" },
    explanation: { formula, unit, source: peaks },
  };
}
