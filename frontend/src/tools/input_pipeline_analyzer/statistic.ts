/** Statistics of one figure over the steps. */

export type Statistic = Readonly<ReturnType<typeof findStatistic>>;

/** Over the steps that are not left out, or over all steps if that leaves none. */
export function findStatistic(values: Float64Array, isLeftOut: readonly boolean[]) {
  const isAny = !isLeftOut.includes(false);
  const known = values.filter((value, step) => (isAny || !isLeftOut[step]) && !Number.isNaN(value));
  const count = known.length;
  const none = count === 0;
  const average = known.reduce((sum, value) => sum + value, 0) / count;
  const least = none ? Number.NaN : known.reduce((least, value) => Math.min(least, value));
  const most = none ? Number.NaN : known.reduce((most, value) => Math.max(most, value));
  const squares = known.reduce((sum, value) => sum + (value - average) ** 2, 0);
  const spread = Math.sqrt(squares / (count - 1));
  return {
    /** NaN if there are no steps, like the other values. */
    average,
    median: medianOf(known),
    // For equal values, rounding of the mean must not appear as a deviation.
    /** Sample standard deviation; NaN for fewer than two steps. */
    deviation: count > 1 ? (most - least > 1e-12 * most ? spread : 0) : Number.NaN,
    least,
    most,
    /** The number of steps included. */
    count,
  };
}

function medianOf(values: Float64Array): number {
  const ranked = values.toSorted();
  const middle = ranked.length >> 1;
  return ranked.length % 2 === 1 ? ranked[middle] : (ranked[middle - 1] + ranked[middle]) / 2;
}
