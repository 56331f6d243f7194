/** Breadcrumbs from the whole trace to the current view, and to the selected range. */
import { LinkButton } from "../../../widgets/controls/buttons";
import type { TimelineModel } from "../model/model";
import { formatInstant, formatPs } from "../model/time";
import type { Span } from "../model/types";
import { clampView, fitView } from "../model/view/view_math";
import { trailOf } from "../model/view/view_trail";
import { withMargins } from "../page/page";

/** The maximum number of views; earlier ones are left out. A range takes the room of one view. */
const MOST_SHOWN = 2;
/** Views wider than this share of the extent count as the whole trace. */
const WHOLE = 0.95;

export function Breadcrumbs({ model }: { model: TimelineModel }) {
  const extent = model.extent.value;
  const length = extent.to - extent.from;
  const isPart = ({ from, to }: Span) => to - from < length * WHOLE;
  const trail = trailOf(model.places.value).filter(isPart);
  const range = model.range.value;
  const shown = trail.slice(range ? -1 : -MOST_SHOWN);
  const zero = model.zero.value;
  const between = ({ from, to }: Span) =>
    `${formatInstant(Math.round(from - zero))} to ${formatInstant(Math.round(to - zero))}`;
  return (
    <nav class="trace-crumbs" aria-label="Zoom">
      <LinkButton
        aria-current={trail.length === 0 ? "location" : undefined}
        title="Zoom to the whole trace (0)"
        onClick={() => {
          model.view.value = clampView(withMargins(extent, 0.01), extent);
        }}
      >
        Whole trace
      </LinkButton>
      {trail.length > shown.length ? <span class="muted">› …</span> : null}
      {shown.map((view, index) => (
        <span key={`${view.from} ${view.to}`}>
          <span class="muted">›</span>{" "}
          <LinkButton
            aria-current={index === shown.length - 1 ? "location" : undefined}
            title={`Zoom to ${between(view)}. Backspace undoes the last zoom or range`}
            onClick={() => {
              model.view.value = view;
            }}
          >
            {formatPs(view.to - view.from)}
          </LinkButton>
        </span>
      ))}
      {range && range.to > range.from ? (
        <span>
          <span class="muted">›</span>{" "}
          <LinkButton
            title={`Zoom to the range: ${between(range)}`}
            onClick={() => {
              model.view.value = fitView(range, extent);
            }}
          >
            range
          </LinkButton>
        </span>
      ) : null}
    </nav>
  );
}
