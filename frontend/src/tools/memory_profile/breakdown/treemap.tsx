/** The breakdown as a treemap, colored by age; a click filters by name. */
import { useMemo, useRef, useState } from "preact/hooks";

import { textColorOn } from "../../../base/palette";
import { useWidth } from "../../../widgets/chart/use_size";
import type { TableModel } from "../../../widgets/table/model";
import { formatAmount, formatMemoryShare } from "../format";
import { AGES, OUTSIDE } from "./breakdown";
import { squarify } from "./squarify";
import { type Leaf, leavesOf } from "./tree_leaves";

interface TreemapProps {
  readonly model: TableModel;
  readonly choose: (leaf: Leaf) => void;
}

const HEIGHT = 420;
/** The color of tiles whose memory was allocated at different times. */
const SEVERAL = "var(--hover)";
const COLORS: ReadonlyMap<string, string> = new Map([
  ...AGES.map(({ label, color }) => [label, color] as const),
  [OUTSIDE, AGES[0].color],
]);
const LABEL_FROM = { width: 44, height: 20 };

export function Treemap({ model, choose }: TreemapProps) {
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  const [active, setActive] = useState(0);
  const { leaves, total } = useMemo(
    () => leavesOf(model),
    [model.shown, model.matched, model.groups],
  );
  const tiles = useMemo(
    () =>
      squarify(
        leaves.map(({ size }) => size),
        width,
        HEIGHT,
      ),
    [leaves, width],
  );
  const at = Math.min(active, leaves.length - 1);
  const moveTo = (next: number) => {
    const target = Math.max(0, Math.min(next, leaves.length - 1));
    setActive(target);
    frame.current?.querySelectorAll("button")[target]?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (by === undefined && event.key !== "Home" && event.key !== "End") return;
    event.preventDefault();
    moveTo(by === undefined ? (event.key === "Home" ? 0 : leaves.length - 1) : at + by);
  };
  return (
    <div class="memory-treemap">
      <div
        ref={frame}
        class="memory-tiles"
        style={{ height: `${HEIGHT}px` }}
        role="group"
        aria-label={`Memory in use by ${model.grouping?.label ?? "op"}, as a treemap`}
        onKeyDown={onKeyDown}
      >
        {tiles.map((tile, index) => {
          const leaf = leaves[index];
          const color = COLORS.get(leaf.age) ?? SEVERAL;
          const short = shortLabel(leaf.label);
          const facts = [formatAmount(leaf.size), formatMemoryShare(leaf.size / total), leaf.age];
          const words = facts.filter((fact) => fact !== "").join(", ");
          const hasRoom = tile.width >= LABEL_FROM.width && tile.height >= LABEL_FROM.height;
          const isTall = hasRoom && tile.height >= 2 * LABEL_FROM.height;
          return (
            <button
              type="button"
              key={leaf.key}
              class="memory-tile"
              tabIndex={index === at ? 0 : -1}
              title={`${leaf.label.slice(0, 2000)}: ${words}`}
              style={{
                left: `${tile.left}px`,
                top: `${tile.top}px`,
                width: `${tile.width}px`,
                height: `${tile.height}px`,
                background: color,
                color: color === SEVERAL ? "var(--text)" : textColorOn(color),
              }}
              onFocus={() => setActive(index)}
              onClick={() => choose(leaf)}
            >
              <span class={hasRoom ? "cut" : "unseen"}>{short}</span>
              <span class={isTall ? "cut" : "unseen"}>{facts[0]}</span>
              <span class="unseen">{facts.slice(1).join(", ")}</span>
            </button>
          );
        })}
        {leaves.length === 0 ? (
          <p class="muted">
            {model.hasFilters ? "No rows match the filters." : "No memory was in use."}
          </p>
        ) : null}
      </div>
      <ul class="plain color-key" aria-label="Colors: when it was allocated">
        {[...COLORS, ["several", SEVERAL] as const]
          .filter(([label]) => leaves.some(({ age }) => (age || "several") === label))
          .map(([label, color]) => (
            <li key={label}>
              <span class="swatch" style={{ background: color }} />
              {label}
            </li>
          ))}
      </ul>
    </div>
  );
}

/** Only the last two parts of a name: outer scopes are mostly the same. */
function shortLabel(label: string): string {
  return label.split("/").slice(-2).join("/").slice(0, 120);
}
