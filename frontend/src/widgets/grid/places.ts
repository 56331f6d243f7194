/** Where columns stand: widths, and what stays in place when the table scrolls sideways. */
import type { TableColumn } from "../table/columns";

export interface Places {
  /** For grid-template-columns. */
  readonly template: string;
  readonly width: number;
  /** Distance from the left edge for the columns that stay, undefined for the others. */
  readonly left: readonly (string | undefined)[];
}

/** The columns that stay are those before the first that does not. */
export function columnPlaces(columns: readonly TableColumn[]): Places {
  let width = 0;
  let isLeading = true;
  const left = columns.map((column) => {
    isLeading = isLeading && column.isSticky === true;
    const place = isLeading ? `${width}px` : undefined;
    width += column.width;
    return place;
  });
  const hasName = columns.some((column) => column.isName);
  const template = columns
    .map((column, at) => {
      const takesRest = column.isName || (!hasName && at === columns.length - 1);
      return takesRest ? `minmax(${column.width}px, 1fr)` : `${column.width}px`;
    })
    .join(" ");
  return { template, width, left };
}
