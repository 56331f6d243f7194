/** Where columns stand: widths, and what stays in place when the table scrolls sideways. */
import type { TableColumn } from "../table/columns";
import type { Widths } from "./widths";

export interface Places {
  /** For grid-template-columns. */
  readonly template: string;
  readonly width: number;
  /** Distance from the left edge for the columns that stay, undefined for the others. */
  readonly left: readonly (string | undefined)[];
}

/**
 * The columns that stay are those before the first that does not. Names take the room that is
 * left, except where a width was chosen for them; `chosen` are such widths.
 */
export function columnPlaces(columns: readonly TableColumn[], chosen: Widths = {}): Places {
  const widths = columns.map((column) => chosen[column.id] ?? column.width);
  let width = 0;
  let isLeading = true;
  const left = columns.map((column, at) => {
    isLeading = isLeading && column.isSticky === true;
    const place = isLeading ? `${width}px` : undefined;
    width += widths[at];
    return place;
  });
  const isFree = (column: TableColumn) => column.isName && chosen[column.id] === undefined;
  const hasName = columns.some(isFree);
  const template = columns
    .map((column, at) => {
      const takesRest = isFree(column) || (!hasName && at === columns.length - 1);
      return takesRest ? `minmax(${widths[at]}px, 1fr)` : `${widths[at]}px`;
    })
    .join(" ");
  return { template, width, left };
}
