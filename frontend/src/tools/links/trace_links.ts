/** The view of the trace viewer that shows a row of another page. */
import { type DataTable, numbers, textAt, texts } from "../../api/data_table";
import type { View } from "../../base/url_state";
import type { StepTable } from "../steps/step_table";
import type { LinkTarget } from "./tool_link";

export const TRACE = "trace_viewer";

/** Search prefixes for the ops of a side. */
const SEARCHES: Readonly<Record<string, string>> = { Device: "device", SparseCore: "sparse-core" };

/** The events counted by a row of the op table; null for idle time, which has none. */
export function opEvents(table: DataTable, row: number): View | null {
  const name = textAt(texts(table, "operation"), row);
  const side = textAt(texts(table, "host_or_device"), row);
  const count = numbers(table, "occurrences")?.[row] ?? 0;
  if (name === "" || !(count > 0)) return null;
  return marking(`${SEARCHES[side] ?? "host"}-op:${name}`);
}

/** The events of a call or of a program annotation. */
export function callEvents(table: DataTable, row: number): View | null {
  const name = textAt(texts(table, "operation"), row);
  return name === "" ? null : marking(`whole:${name}`);
}

/** The events of an input op. */
export function inputEvents(table: DataTable, row: number): View | null {
  const name = textAt(texts(table, "opName"), row);
  return name === "" ? null : inputOpEvents(name);
}

export function inputOpEvents(name: string): View {
  return marking(`input-op:${name}`);
}

/** The calls of a tf.data stage in all copies of its pipeline. */
export function iteratorEvents(stage: string): View {
  return marking(`iterator:${stage}`);
}

/** A step by its label and, if known, its time since the start of its host's trace, in µs. */
export function stepTimes(label: string, start: number, total: number): View {
  const view = { step: label };
  if (Number.isNaN(start) || Number.isNaN(total)) return view;
  const ms = (value: number) => String(Number((value / 1000).toFixed(6)));
  return { ...view, from_ms: ms(start), to_ms: ms(start + total) };
}

/**
 * A step on its slowest worker. Workers may run a step at different times, so that no single range
 * shows it on all of them; and since each host's trace has its own start, one host is opened.
 */
export function stepInTrace(steps: StepTable, step: number, hosts: readonly string[]): LinkTarget {
  const { start, total, host } = steps.slowest;
  const view = stepTimes(steps.labels[step], start[step], total[step]);
  return hosts.length > 1 && host[step] ? { view, hosts: [host[step]] } : { view };
}

/** The memory events of an op; "" for those of all ops. */
export function allocationEvents(op: string): View {
  return op === "" ? namedEvents("MemoryAllocation") : marking(`arg:tf_op=${op}`);
}

/** The events with a name. */
export function namedEvents(name: string): View {
  return marking(`whole:${name}`);
}

/** The events that a search finds. */
export function marking(query: string): View {
  return { q: query };
}
