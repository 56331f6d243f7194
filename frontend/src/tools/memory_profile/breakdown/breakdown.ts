/** What was in use at an instant, as a table: a row for each op, region, type, shape and age. */
import { encodeTexts, numberColumn } from "../../../api/data_table";
import { columnOf, fields, flag, list, number, numbers, text } from "../../../api/json";
import { bytes } from "../../../base/units";

export type MemoryBreakdown = Readonly<ReturnType<typeof parseBreakdown>>;

/** Since when it is in use: for the table, the treemap and their colours. */
export const AGES = [
  { id: "step", label: "this step", color: "var(--c-host)" },
  { id: "earlier", label: "an earlier step", color: "var(--c-launch)" },
  { id: "before", label: "before the recording", color: "var(--c-idle)" },
  { id: "stack", label: "stack", color: "var(--c-input)" },
] as const;

/** Of AGES, the first one where no step was: coloured alike. */
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
    // The instant lies between steps, or there are none.
    if (id === "step" && !(Number(stepOf[row]) >= 0)) return OUTSIDE;
    return AGES.find((age) => age.id === id)?.label ?? (id || null);
  });
  // How many allocations they were was not recorded.
  const isUncounted = (row: number) => ["before", "stack"].includes(text(ages[row]));
  const occurrences = amount("occurrences", "Occurrences");
  return {
    at: number(breakdown.at_ps),
    isPeak: flag(breakdown.is_peak),
    inUse: bytes(number(breakdown.in_use_bytes)),
    table: {
      columns: [
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
      ],
      length,
      properties: {},
      warnings: [],
    },
  };
}

/** A text by its index or as it is, null where there is none. */
function named(value: unknown, texts: readonly string[]): string | null {
  const found = typeof value === "number" ? texts[value] : text(value);
  return found ? found : null;
}
