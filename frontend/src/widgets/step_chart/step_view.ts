/** State shared by the charts of the same steps: cursor, range and hidden series. */
import { type Signal, useSignal } from "@preact/signals";
import type { View } from "../../base/url_state";

export interface StepView {
  /** Index of the step under the cursor. */
  readonly cursor: Signal<number | null>;
  /** The steps in view are `from` to `to`, without `to`. */
  readonly from: number;
  readonly to: number;
  readonly isZoomed: boolean;
  /** null: all steps. */
  readonly zoom: (range: readonly [from: number, to: number] | null) => void;
  /** Ids of series that are not drawn. */
  readonly hidden: ReadonlySet<string>;
  readonly toggle: (id: string) => void;
}

/** Range and hidden series are kept in the address, as `zoom` and `hide`. */
export function useStepView(
  count: number,
  view: View,
  select: (patch: Readonly<Record<string, string | null>>) => void,
): StepView {
  const cursor = useSignal<number | null>(null);
  const range = parseRange(view.zoom, count);
  const hidden = new Set((view.hide ?? "").split(".").filter(Boolean));
  return {
    cursor,
    from: range?.[0] ?? 0,
    to: range?.[1] ?? count,
    isZoomed: range !== null,
    zoom: (next) => select({ zoom: next === null ? null : formatRange(next, count) }),
    hidden,
    toggle: (id) => {
      const next = new Set(hidden);
      if (!next.delete(id)) next.add(id);
      select({ hide: next.size > 0 ? [...next].join(".") : null });
    },
  };
}

/** "3..17" within `count` steps; null for all of them and for anything else. */
export function parseRange(text: string | undefined, count: number): [number, number] | null {
  const match = /^(\d{1,9})\.\.(\d{1,9})$/.exec(text ?? "");
  if (!match) return null;
  const from = Math.min(Number(match[1]), count - 1);
  const to = Math.min(Number(match[2]), count);
  return to > from && from >= 0 && to - from < count ? [from, to] : null;
}

function formatRange([from, to]: readonly [number, number], count: number): string | null {
  const text = `${Math.max(from, 0)}..${Math.min(to, count)}`;
  return parseRange(text, count) ? text : null;
}
