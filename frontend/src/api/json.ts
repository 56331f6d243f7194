/**
 * Readers of untrusted JSON. A payload's type is the return type of its parser, so that each field
 * is declared once.
 */
import { PayloadError } from "./errors";

export type Json = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `value` as an object; throws PayloadError if it is none. */
export function record(value: unknown, what: string): Json {
  if (!isRecord(value)) throw new PayloadError(`${what} is not an object`);
  return value;
}

/** The fields of an object; {} for anything else. */
export function fields(value: unknown): Json {
  return isRecord(value) ? value : {};
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The objects in a list; other items are dropped. */
export function records(value: unknown): readonly Json[] {
  return list(value).filter(isRecord);
}

export function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function texts(value: unknown): readonly string[] {
  return list(value).map(text);
}

/** NaN, which means not measured, for anything but a number. */
export function number(value: unknown): number {
  return typeof value === "number" ? value : Number.NaN;
}

/** `otherwise` for anything but a finite number. */
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

/** A column of `length` numbers, all NaN if it is missing; throws PayloadError on another length. */
export function columnOf(value: unknown, length: number): Float64Array {
  if (value === undefined || value === null) return new Float64Array(length).fill(Number.NaN);
  return checkLength(numbers(value), length);
}

/** Throws PayloadError unless there are `length` values. */
export function checkLength<T extends ArrayLike<unknown>>(values: T, length: number): T {
  if (values.length !== length)
    throw new PayloadError(`${values.length} values where there should be ${length}`);
  return values;
}

/** `value` parsed as JSON; null if it is not JSON. */
export function parseJson(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return null;
  }
}
