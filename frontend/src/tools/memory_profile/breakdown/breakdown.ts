/** The memory in use at an instant: a row per op, region, data type, shape and age. */
import { encodeTexts, numberColumn, tableOf } from "../../../api/data_table";
import { columnOf, fields, flag, list, number, numbers, text } from "../../../api/json";
import { bytes } from "../../../base/units";

export type MemoryBreakdown = Readonly<ReturnType<typeof parseBreakdown>>;

/** When the memory was allocated, with labels and colors for the table and the treemap. */
export const AGES = [
  { id: "step", label: "this step", color: "var(--c-host)" },
  { id: "earlier", label: "an earlier step", color: "var(--c-launch)" },
  { id: "before", label: "before the recording", color: "var(--c-idle)" },
  { id: "stack", label: "stack", color: "var(--c-input)" },
] as const;

/** The label of the first of AGES outside of steps; it has the same color. */
export const OUTSIDE = "outside of steps";

const TEXTS = [
  ["op", "Op"],
  ["region", "Region type"],
  ["dtype", "Data type"],
  ["shape", "Shape"],
] as const;
const PS_PER_US = 1e6;

/** Throws PayloadError. */
export function parseBreakdown(json: unknown, texts: readonly string[], steps: readonly string[]) {
  const breakdown = fields(json);
  const rows = fields(breakdown.rows);
  const length = numbers(rows.allocated_bytes).length;
  const amount = (id: string, label: string, factor = 1) =>
    numberColumn(
      id,
      label,
      columnOf(rows[id], length).map((value) => (value >= 0 ? value * factor : Number.NaN)),
    );
  const names = (id: string, label: string, of: readonly string[]) =>
    encodeTexts(
      id,
      label,
      Array.from({ length }, (_, row) => named(list(rows[id])[row], of)),
    );
  const [ages, stepOf] = [list(rows.age), list(rows.step)];
  const age = Array.from({ length }, (_, row) => {
    const id = text(ages[row]);
    // The instant is between steps, or there are no steps.
    if (id === "step" && !(Number(stepOf[row]) >= 0)) return OUTSIDE;
    return AGES.find((age) => age.id === id)?.label ?? (id || null);
  });
  // The number of these allocations was not recorded.
  const isUncounted = (row: number) => ["before", "stack"].includes(text(ages[row]));
  const occurrences = amount("occurrences", "Occurrences");
  return {
    at: number(breakdown.at_ps),
    isPeak: flag(breakdown.is_peak),
    inUse: bytes(number(breakdown.in_use_bytes)),
    table: tableOf([
      ...TEXTS.map(([id, label]) => names(id, label, texts)),
      amount("allocated_bytes", "Allocation size"),
      amount("requested_bytes", "Requested size"),
      {
        ...occurrences,
        values: occurrences.values.map((count, row) => (isUncounted(row) ? Number.NaN : count)),
      },
      encodeTexts("age", "Allocated in", age),
      names("step", "Step", steps),
      amount("since_ps", "Since", 1 / PS_PER_US),
    ]),
  };
}

/** A text, given itself or its index; null if there is none. */
function named(value: unknown, texts: readonly string[]): string | null {
  const name = typeof value === "number" ? texts[value] : text(value);
  return name ? name : null;
}
