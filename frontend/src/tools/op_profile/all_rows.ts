/** All instructions of a profile, which the server sends in parts. */
import { count, fields, type Json, list, record } from "../../api/json";
import type { Ask } from "../tool";
import { type Profile, parseProfile } from "./payload";

/** Columns of places in `texts`. */
const TEXTS: ReadonlySet<string> = new Set([
  "program",
  "program_id",
  "name",
  "category",
  "group",
  "opcode",
  "scope",
  "source",
  "dtype",
  "core",
  "roof",
  "bound_by",
  "cause",
  "note",
]);

/** Throws PayloadError. */
export async function fetchAllRows(ask: Ask, signal: AbortSignal): Promise<Profile> {
  const parts: Json[] = [];
  let rows = 0;
  for (;;) {
    const part = record(await ask({ rows: String(rows) }, signal), "a part of the profile");
    parts.push(part);
    const more = rowsOf(part);
    rows += more;
    if (more === 0 || rows >= count(part.instructions)) return parseProfile(joined(parts));
  }
}

function rowsOf(part: Json): number {
  return list(fields(part.rows).row).length;
}

/** Each part has texts of its own, and its kernels name places in its own rows. */
function joined(parts: readonly Json[]): Json {
  const rows: Record<string, unknown[]> = {};
  const kernels: Record<string, unknown[]> = {};
  const placeOf = new Map<unknown, number>();
  let before = 0;
  for (const part of parts) {
    const places = list(part.texts).map((text) => {
      const place = placeOf.get(text) ?? placeOf.size;
      placeOf.set(text, place);
      return place;
    });
    const place = (at: unknown) => places[Number(at)] ?? -1;
    for (const [name, values] of Object.entries(fields(part.rows)))
      append(rows, name, TEXTS.has(name) ? list(values).map(place) : list(values));
    const begin = before;
    for (const [name, values] of Object.entries(fields(part.kernels)))
      append(
        kernels,
        name,
        name === "name"
          ? list(values).map(place)
          : name === "place"
            ? list(values).map((at) => begin + Number(at))
            : list(values),
      );
    before += rowsOf(part);
  }
  return { ...parts[0], rows, kernels, texts: [...placeOf.keys()] };
}

function append(columns: Record<string, unknown[]>, name: string, values: readonly unknown[]) {
  const column = columns[name] ?? [];
  for (const value of values) column.push(value);
  columns[name] = column;
}
