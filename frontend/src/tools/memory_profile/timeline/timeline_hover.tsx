/** What is known of the event under the cursor. */
import type { Memory } from "../payload";
import { eventFacts, splitText } from "./event_facts";

interface HoverCardProps {
  readonly memory: Memory;
  readonly point: number;
  /** ps in view. */
  readonly span: number;
  /** CSS pixels from the left edge of the chart, and its width. */
  readonly at: number;
  readonly width: number;
}

const CARD_WIDTH = 340;
const GAP = 12;

export function TimelineHover({ memory, point, span, at, width }: HoverCardProps) {
  const right = at + GAP;
  const left = right + CARD_WIDTH <= width ? right : Math.max(at - GAP - CARD_WIDTH, 0);
  return (
    <div
      class="step-card memory-card"
      style={{ left: `${left}px`, width: `${CARD_WIDTH}px` }}
      aria-hidden="true"
    >
      <dl>
        {eventFacts(memory, point, span).map(({ id, label, value, reason }) => (
          <div key={id} data-fact={id}>
            <dt>{label}</dt>
            <dd class={reason ? "muted" : ""}>
              {value.slice(0, 300)}
              {reason ? ` (${reason})` : ""}
            </dd>
          </div>
        ))}
      </dl>
      <p class="muted">{splitText(memory, point)}</p>
    </div>
  );
}
