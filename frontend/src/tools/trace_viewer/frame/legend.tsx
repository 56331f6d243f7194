/** The legend of event colors, if they have a meaning. */
import { useEffect, useState } from "preact/hooks";
import { resolveColor, watchColors } from "../../../base/theme";
import {
  colorOfMeaning,
  GRAY,
  hueColors,
  hueOfNumber,
  parseRgb,
} from "../../../widgets/canvas/event_colors";
import type { TimelineModel } from "../model/model";
import type { Category } from "../protocol/payload";

interface LegendEntry {
  readonly label: string;
  /** CSS. */
  readonly color: string;
  /** All categories with that color. */
  readonly title: string;
}

export function Legend({ model }: { model: TimelineModel }) {
  const [isDark, setDark] = useState(isPageDark);
  useEffect(() => watchColors(() => setDark(isPageDark())), []);
  const by = model.color.value;
  const categories = model.hosts.value[0]?.events.categories ?? [];
  if ((by !== "category" && by !== "group") || categories.length === 0) return null;
  const entries = by === "category" ? ofCategories(categories, isDark) : ofGroups(categories);
  return (
    <ul class="plain trace-legend" aria-label="Colors">
      {entries.map(({ label, color, title }) => (
        <li key={label} title={title}>
          <span class="trace-swatch" style={{ background: color }} />
          {label}
        </li>
      ))}
    </ul>
  );
}

function ofCategories(categories: readonly Category[], isDark: boolean): LegendEntry[] {
  const hues = hueColors(isDark);
  return categories.map(({ name }, index) => ({
    label: name,
    color: `rgb(${hues[hueOfNumber(index)].join(", ")})`,
    title: name,
  }));
}

/** The entries; categories without a meaning are gray, and come last. */
export function ofGroups(categories: readonly Category[]): LegendEntry[] {
  const isGray = ({ meaning }: Category) => colorOfMeaning(meaning) === GRAY;
  const names = (all: readonly Category[]) => all.map(({ name }) => name).join(", ");
  const gray = categories.filter(isGray);
  const meanings = [
    ...new Set(
      categories.filter((category) => !isGray(category)).map((category) => category.meaning),
    ),
  ];
  const entries = meanings.map((meaning) => {
    const members = names(categories.filter((category) => category.meaning === meaning));
    return { label: members, color: `var(--c-${meaning})`, title: members };
  });
  if (gray.length === 0) return entries;
  return [...entries, { label: "waiting and other", color: "var(--c-idle)", title: names(gray) }];
}

function isPageDark(): boolean {
  return parseRgb(resolveColor("var(--background)")).reduce((sum, part) => sum + part, 0) < 384;
}
