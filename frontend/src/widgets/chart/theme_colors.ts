/** The colors of the current theme, for what is drawn on a canvas. */
import { useEffect, useState } from "preact/hooks";
import { resolveColor, watchColors } from "../../base/theme";

/** Of a card, and of the texts and lines on it. */
export function paperColors() {
  return {
    background: resolveColor("var(--panel)"),
    text: resolveColor("var(--text)"),
    muted: resolveColor("var(--muted)"),
    border: resolveColor("var(--border)"),
  };
}

/** A number that changes whenever colors may have changed. */
export function useTheme(): number {
  const [theme, bump] = useState(0);
  useEffect(() => watchColors(() => bump((count) => count + 1)), []);
  return theme;
}
