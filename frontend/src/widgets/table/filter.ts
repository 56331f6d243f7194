/**
 * Parses the filter of a column:
 * text, =exact text, /regex/, >5ms, <=10%, 1ms..5ms, yes, no, or ! before any of them.
 */
import { unitFactors } from "../../base/format";
import type { TableColumn } from "./columns";

export type RowTest = (row: number) => boolean;

export type Filter =
  | { readonly test: RowTest; readonly error?: undefined }
  | { readonly test?: undefined; readonly error: string };

/** The longest text that patterns are matched against, and the longest pattern. */
const MAX_MATCHED = 4096;
const MAX_PATTERN = 500;

/** null if `text` is empty. */
export function parseFilter(text: string, column: TableColumn): Filter | null {
  // Exact texts keep surrounding spaces.
  const asked = text.startsWith("=") ? text : text.trim();
  if (asked === "" || asked === "!") return null;
  if (asked.startsWith("!") && !asked.startsWith("!=")) {
    const inner = parseFilter(asked.slice(1), column);
    if (!inner?.test) return inner;
    const test = inner.test;
    return { test: (row) => !test(row) };
  }
  if (/^(–|none)$/i.test(asked) && column.data.kind !== "text") return { test: isMissing(column) };
  switch (column.data.kind) {
    case "number":
      return numberFilter(asked, column, column.data.values);
    case "flag":
      return flagFilter(asked, column.data.values);
    case "text":
      return textFilter(asked, column, column.data.strings, column.data.codes);
  }
}

function numberFilter(asked: string, column: TableColumn, values: Float64Array): Filter {
  const range = /^(.*?)\.\.(.*)$/.exec(asked);
  if (range) {
    const [low, high] = [range[1], range[2]].map((end, index) =>
      end.trim() === ""
        ? index === 0
          ? Number.NEGATIVE_INFINITY
          : Number.POSITIVE_INFINITY
        : parseQuantity(end, column),
    );
    if (Number.isNaN(low) || Number.isNaN(high)) return { error: numberHint(column) };
    return { test: (row) => values[row] >= low && values[row] <= high };
  }
  const [, sign, rest] = /^(>=|<=|!=|>|<|=|≥|≤)?(.*)$/s.exec(asked)!;
  const bound = parseQuantity(rest, column);
  if (Number.isNaN(bound)) return { error: numberHint(column) };
  switch (sign) {
    case ">":
      return { test: (row) => values[row] > bound };
    case ">=":
    case "≥":
      return { test: (row) => values[row] >= bound };
    case "<":
      return { test: (row) => values[row] < bound };
    case "<=":
    case "≤":
      return { test: (row) => values[row] <= bound };
  }
  // Values that are displayed the same are equal: users cannot type digits that they do not see.
  const written = column.scale!.format(bound);
  const isEqual = (row: number) =>
    values[row] === bound ||
    (!Number.isNaN(values[row]) && column.scale!.format(values[row]) === written);
  return { test: sign === "!=" ? (row) => !isEqual(row) : isEqual };
}

/** In stored units; a number without a unit is in the header's unit. NaN if it cannot be parsed. */
function parseQuantity(text: string, column: TableColumn): number {
  const match = /^\s*([-+]?(?:\d[\d,]*\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*([^\d\s].*?)?\s*$/i.exec(text);
  if (!match) return Number.NaN;
  const value = Number(match[1].replaceAll(",", ""));
  if (match[2] === undefined) return value / column.scale!.factor;
  const unit = match[2].toLowerCase();
  if (unit === column.scale!.unit.toLowerCase()) return value / column.scale!.factor;
  return value * (unitFactors(column.quantity ?? "number").get(unit) ?? Number.NaN);
}

function numberHint(column: TableColumn): string {
  const unit = column.scale?.unit ?? "";
  const example = unit === "%" ? "10%" : `5${unit}`;
  return `Not a number or range. Try >${example}, <=${example} or 1..${example}`;
}

function flagFilter(asked: string, values: Int8Array): Filter {
  const isYes = /^=?(y|yes|true|1)$/i.test(asked);
  if (!isYes && !/^=?(n|no|false|0)$/i.test(asked)) return { error: "Type yes or no" };
  const wanted = isYes ? 1 : 0;
  return { test: (row) => values[row] === wanted };
}

/** Matches unique texts, then looks up rows. Names match in their raw or readable form. */
function textFilter(
  asked: string,
  column: TableColumn,
  strings: readonly string[],
  codes: Int32Array,
): Filter {
  let matches: (text: string) => boolean;
  if (asked.startsWith("!=")) {
    const exact = asked.slice(2);
    matches = (text) => text !== exact;
  } else if (asked.startsWith("=")) {
    const exact = asked.slice(1);
    matches = (text) => text === exact;
  } else if (asked.length > 1 && asked.startsWith("/")) {
    const pattern = parsePattern(asked);
    if (typeof pattern === "string") return { error: pattern };
    matches = (text) => pattern.test(text.slice(0, MAX_MATCHED));
  } else {
    const part = asked.toLowerCase();
    matches = (text) => text.toLowerCase().includes(part);
  }
  const isNegative = asked.startsWith("!=");
  const isMatch = Uint8Array.from(strings, (text, code) => {
    if (matches(text)) return 1;
    return !isNegative && column.names && matches(column.names.readable(code)) ? 1 : 0;
  });
  return { test: (row) => codes[row] >= 0 && isMatch[codes[row]] === 1 };
}

/** The pattern, or an error message. */
function parsePattern(asked: string): RegExp | string {
  const end = asked.lastIndexOf("/");
  const isClosed = end > 0;
  const source = isClosed ? asked.slice(1, end) : asked.slice(1);
  const flags = isClosed ? asked.slice(end + 1) : "";
  if (!/^[imsu]*$/.test(flags)) return `Unknown flags “${flags}” after the pattern`;
  if (source.length > MAX_PATTERN) return `The pattern is longer than ${MAX_PATTERN} characters`;
  // Nested repetition can backtrack exponentially, and links can contain filters.
  if (/[+*}][^()]*\)[+*{]/.test(source))
    return "A repetition inside a repeated group is not allowed";
  try {
    return new RegExp(source, flags.includes("i") ? flags : `${flags}i`);
  } catch (error) {
    return error instanceof Error ? error.message : "Invalid pattern";
  }
}

function isMissing(column: TableColumn): RowTest {
  const { data } = column;
  if (data.kind === "number") return (row) => Number.isNaN(data.values[row]);
  if (data.kind === "flag") return (row) => data.values[row] < 0;
  return (row) => data.codes[row] < 0;
}
