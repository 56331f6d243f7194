/** The layout of a virtualized list of rows with expandable details. */

/** The lines of the table in order: a row ≥ 0, or -(row + 1) for a row of the group above. */
type Items = Int32Array;

export interface GridLayout {
  readonly rowHeight: number;
  readonly detailHeight: number;
  readonly length: number;
  /** Positions with an expanded detail, ascending. */
  readonly open: readonly number[];
}

/** `order` with the members of each expanded group inserted after it. */
export function layItems(
  order: Uint32Array,
  expanded: ReadonlySet<number>,
  members: (group: number) => Uint32Array | null,
): Items {
  const inserted = new Map<number, Uint32Array>();
  let length = order.length;
  for (const group of expanded) {
    const rows = group >= 0 ? members(group) : null;
    if (!rows) continue;
    inserted.set(group, rows);
    length += rows.length;
  }
  if (inserted.size === 0) return Int32Array.from(order);
  const items = new Int32Array(length);
  let at = 0;
  for (const row of order) {
    items[at++] = row;
    for (const member of inserted.get(row) ?? []) items[at++] = -(member + 1);
  }
  return items.subarray(0, at);
}

export function offsetOf(layout: GridLayout, position: number): number {
  let above = 0;
  while (above < layout.open.length && layout.open[above] < position) above++;
  return position * layout.rowHeight + above * layout.detailHeight;
}

/** The last position that begins at or above `offset`. */
export function positionAt(layout: GridLayout, offset: number): number {
  let low = 0;
  let high = Math.max(layout.length - 1, 0);
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (offsetOf(layout, middle) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}
