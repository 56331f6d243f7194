/** Values of untrusted JSON, checked where they enter. */
import { PayloadError } from "../../../api/errors";
import { isRecord } from "../../../api/types";

export type Json = Readonly<Record<string, unknown>>;

/** Throws PayloadError where `value` is no object. */
export function record(value: unknown, what: string): Json {
  if (!isRecord(value)) throw new PayloadError(`${what} is not an object`);
  return value;
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The objects of a list; anything else in it is left out. */
export function records(value: unknown): readonly Json[] {
  return list(value).filter(isRecord);
}

export function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function texts(value: unknown): readonly string[] {
  return list(value).map(text);
}

/** NaN where it is no number: not measured. */
export function number(value: unknown): number {
  return typeof value === "number" ? value : Number.NaN;
}

/** `otherwise` where it is no finite number. */
export function count(value: unknown, otherwise = 0): number {
  return typeof value === "number" && Number.isFinite(value) ? value : otherwise;
}

export function numbers(value: unknown): Float64Array {
  return Float64Array.from(list(value), number);
}

export function integers(value: unknown): readonly number[] {
  return list(value).filter((item): item is number => Number.isSafeInteger(item));
}
