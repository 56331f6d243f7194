/**
 * Values of untrusted JSON, checked where they enter. What a payload holds is the return type of its
 * reader: a field, its type and its meaning are written once.
 */
import { PayloadError } from "./errors";

export type Json = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Throws PayloadError where `value` is not an object. */
export function record(value: unknown, what: string): Json {
  if (!isRecord(value)) throw new PayloadError(`${what} is not an object`);
  return value;
}

/** The fields of an object; none where `value` is anything else. */
export function fields(value: unknown): Json {
  return isRecord(value) ? value : {};
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

/** NaN where it is not a number: not measured. */
export function number(value: unknown): number {
  return typeof value === "number" ? value : Number.NaN;
}

/** `otherwise` where it is not a finite number. */
export function count(value: unknown, otherwise = 0): number {
  return typeof value === "number" && Number.isFinite(value) ? value : otherwise;
}

export function flag(value: unknown): boolean {
  return value === true || value === 1;
}

export function numbers(value: unknown): Float64Array {
  return Float64Array.from(list(value), number);
}

export function integers(value: unknown): readonly number[] {
  return list(value).filter((item): item is number => Number.isSafeInteger(item));
}

/** A column of `length` numbers, all NaN where there is none; throws PayloadError. */
export function columnOf(value: unknown, length: number): Float64Array {
  if (value === undefined || value === null) return new Float64Array(length).fill(Number.NaN);
  return checkLength(numbers(value), length);
}

/** Throws PayloadError where `values` are not `length`. */
export function checkLength<T extends ArrayLike<unknown>>(values: T, length: number): T {
  if (values.length !== length)
    throw new PayloadError(`${values.length} values where there should be ${length}`);
  return values;
}

/** The JSON that `value` holds, null where it is none. */
export function parseJson(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return null;
  }
}
