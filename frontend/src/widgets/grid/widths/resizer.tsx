/** The right edge of a column header: drag to resize, double-click to fit the content. */
import { useRef } from "preact/hooks";

interface ResizerProps {
  readonly title: string;
  /** null for the default width. */
  readonly resize: (width: number | null) => void;
  /** The width that fits every visible text of the column. */
  readonly natural: () => number;
}

export function Resizer({ title, resize, natural }: ResizerProps) {
  const start = useRef<{ x: number; width: number } | null>(null);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the header's keys do the same
    <span
      class="resizer"
      title={`Drag to resize “${title}”, double-click to fit`}
      onPointerDown={(event) => {
        const cell = event.currentTarget.parentElement;
        if (!cell || event.button !== 0) return;
        event.preventDefault();
        event.currentTarget.setPointerCapture(event.pointerId);
        start.current = { x: event.clientX, width: cell.offsetWidth };
      }}
      onPointerMove={(event) => {
        if (start.current) resize(start.current.width + event.clientX - start.current.x);
      }}
      onPointerUp={() => {
        start.current = null;
      }}
      onPointerCancel={() => {
        start.current = null;
      }}
      onDblClick={() => resize(natural())}
    />
  );
}

/** Pixels around the text of a cell, and of the button that expands a row. */
const PADDING = 18;
const OPENER = 26;

/** The width that fits column `at` in all rows that are in the DOM. */
export function fittingWidth(grid: Element, at: number): number {
  const pen = document.createElement("canvas").getContext("2d");
  let widest = 0;
  for (const row of grid.querySelectorAll(".grid-row:not(.filter-row)")) {
    const cell = row.children[at];
    if (!cell) continue;
    let width = cell.querySelector(".opener") ? OPENER : 0;
    const texts = cell.querySelectorAll(".sort-title, .name, .group-size, .text, .bar-text");
    for (const part of texts.length > 0 ? texts : [cell]) {
      if (pen) pen.font = getComputedStyle(part).font;
      width += (pen?.measureText(part.textContent ?? "").width ?? 0) + 6;
    }
    widest = Math.max(widest, width);
  }
  return widest + PADDING;
}
