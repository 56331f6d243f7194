/** The widths of columns, and the positions of those that stay visible on horizontal scrolling. */
import type { TableColumn } from "../../table/columns";
import type { Widths } from "./widths";

export interface Places {
  /** For grid-template-columns. */
  readonly template: string;
  readonly width: number;
  /** Distance of sticky columns from the left edge; undefined for the others. */
  readonly left: readonly (string | undefined)[];
}

/**
 * Only leading columns are sticky: those before the first that is not. Name columns share the
 * remaining room, unless the user chose a width for them; `chosen` holds such widths.
 */
export function columnPlaces(columns: readonly TableColumn[], chosen: Widths = {}): Places {
  const widths = columns.map((column) => chosen[column.id] ?? column.width);
  let width = 0;
  let isLeading = true;
  const left = columns.map((column, index) => {
    isLeading = isLeading && column.isSticky === true;
    const place = isLeading ? `${width}px` : undefined;
    width += widths[index];
    return place;
  });
  const isFree = (column: TableColumn) => column.isName && chosen[column.id] === undefined;
  const hasName = columns.some(isFree);
  const template = columns
    .map((column, index) => {
      const takesRest = isFree(column) || (!hasName && index === columns.length - 1);
      return takesRest ? `minmax(${widths[index]}px, 1fr)` : `${widths[index]}px`;
    })
    .join(" ");
  return { template, width, left };
}
