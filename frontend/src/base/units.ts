/** Branded types for quantities, so that a duration is never formatted as a size. */
declare const unit: unique symbol;
type Branded<U extends string> = number & { readonly [unit]: U };

export type Microseconds = Branded<"µs">;
export type Bytes = Branded<"B">;
/** A share of a whole, 0–1. */
export type Ratio = Branded<"ratio">;
export type Milliseconds = Branded<"ms">;

export const microseconds = (value: number) => value as Microseconds;
export const bytes = (value: number) => value as Bytes;
export const ratio = (value: number) => value as Ratio;
export const milliseconds = (value: number) => value as Milliseconds;
