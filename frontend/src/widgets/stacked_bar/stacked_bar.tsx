/** A horizontal stacked bar with labels where they fit. */
import { formatRatio } from "../../base/format";
import { textColorOn } from "../../base/palette";
import { ratio } from "../../base/units";

export interface BarPart {
  readonly id: string;
  readonly label: string;
  /** A custom property: "var(--c-input)". */
  readonly color: string;
  /** 0–1 of the whole. */
  readonly share: number;
}

interface StackedBarProps {
  readonly label: string;
  readonly parts: readonly BarPart[];
  /** The id of the part under the pointer, here or in the bar's table. */
  readonly pointed?: string | null;
  readonly point?: (id: string | null) => void;
}

export function StackedBar({ label, parts, pointed = null, point }: StackedBarProps) {
  const shown = parts.filter(({ share }) => share > 0);
  const words = shown.map((part) => `${part.label} ${formatRatio(ratio(part.share))}`);
  return (
    <div class="stacked-bar" role="img" aria-label={`${label}: ${words.join(", ")}`}>
      {shown.map((part, index) => (
        // biome-ignore lint/a11y/noStaticElementInteractions: only shows what the table says
        <span
          key={part.id}
          class={pointed !== null && pointed !== part.id ? "bar-part faded" : "bar-part"}
          style={{
            width: `${part.share * 100}%`,
            background: part.color,
            color: textColorOn(part.color),
          }}
          title={words[index]}
          onMouseEnter={() => point?.(part.id)}
          onMouseLeave={() => point?.(null)}
        >
          <span class="bar-share">{formatRatio(ratio(part.share))}</span>
          <span class="bar-label">{part.label}</span>
        </span>
      ))}
    </div>
  );
}
