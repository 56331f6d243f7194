/** The color legend of the heat map. */
import { useMemo } from "preact/hooks";
import { resolveColor } from "../../../base/theme";
import { useTheme } from "../../../widgets/chart/theme_colors";
import type { Domain, Measure } from "../measures";
import { writeValue } from "./heat_texts";
import { makeRamp, type Ramp, rampColor } from "./ramp";

interface HeatLegendProps {
  readonly domain: Domain;
  readonly ramp: Ramp;
  readonly measure: Measure;
}

/** The ends of the color range; with "≤" or "≥" if there are values beyond. */
export function legendTexts(
  { low, high, least, most }: Domain,
  measure: Measure,
): [string, string] {
  return [
    `${least < low * 0.9999 ? "≤ " : ""}${writeValue(low, measure)}`,
    `${most > high * 1.0001 ? "≥ " : ""}${writeValue(high, measure)}`,
  ];
}

export function HeatLegend({ domain, ramp, measure }: HeatLegendProps) {
  const { low, high, least, most } = domain;
  const [first, last] = legendTexts(domain, measure);
  const stops = Array.from({ length: 17 }, (_, index) => rampColor(ramp, index / 16)).join(", ");
  const beyond = [
    first.startsWith("≤") ? `down to ${writeValue(least, measure)}` : "",
    last.startsWith("≥") ? `up to ${writeValue(most, measure)}` : "",
  ].filter(Boolean);
  return (
    <span class="pod-legend">
      <span>{first}</span>
      <span
        class="pod-ramp"
        role="img"
        aria-label={`Colors from ${writeValue(low, measure)} to ${writeValue(high, measure)}`}
        style={{ background: `linear-gradient(to right, ${stops})` }}
      />
      <span>{last}</span>
      {beyond.length > 0 ? <span class="muted">({beyond.join(", ")})</span> : null}
    </span>
  );
}

/** The ramp of the current theme, and a number that changes with the page's colors. */
export function useRamp(): { readonly ramp: Ramp; readonly theme: number } {
  const theme = useTheme();
  const ramp = useMemo(() => {
    // The second color is in use if the page is dark.
    const probe = resolveColor("light-dark(rgb(1 1 1), rgb(2 2 2))");
    return makeRamp(probe.includes("2"));
  }, [theme]);
  return { ramp, theme };
}
