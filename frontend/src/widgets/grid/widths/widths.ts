/** Column widths chosen by the user, stored in the browser per table label. */
import { useCallback, useState } from "preact/hooks";

/** Pixels by column id. */
export type Widths = Readonly<Record<string, number>>;

const KEY = "tbprof.widths";
export const NARROWEST = 40;
const WIDEST = 2000;

/** The chosen widths of the table `label`, and a function that sets one; null for the default. */
export function useWidths(label: string): [Widths, (id: string, width: number | null) => void] {
  const [widths, setWidths] = useState<Widths>(() => readAll()[label] ?? {});
  const set = useCallback(
    (id: string, width: number | null) => {
      const others = Object.entries(widths).filter(([other]) => other !== id);
      const chosen = width === null ? [] : [[id, clamp(width)] as const];
      const next = Object.fromEntries([...others, ...chosen]);
      setWidths(next);
      keep({ ...readAll(), [label]: next });
    },
    [label, widths],
  );
  return [widths, set];
}

function clamp(width: number): number {
  return Math.round(Math.max(NARROWEST, Math.min(width, WIDEST)));
}

function readAll(): Record<string, Widths> {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    return parse(kept);
  } catch {
    return {};
  }
}

/** The valid widths in `kept`: the storage may contain anything. */
function parse(kept: unknown): Record<string, Widths> {
  const entries = (value: unknown) =>
    typeof value === "object" && value !== null ? Object.entries(value) : [];
  return Object.fromEntries(
    entries(kept).map(([label, widths]) => [
      label,
      Object.fromEntries(
        entries(widths).flatMap(([id, width]) =>
          typeof width === "number" && width > 0 ? [[id, clamp(width)]] : [],
        ),
      ),
    ]),
  );
}

function keep(all: Record<string, Widths>): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(all));
  } catch {
    // Frames may have no storage; the widths then last until the page is closed.
  }
}
