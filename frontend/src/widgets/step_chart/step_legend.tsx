/** The legend in stacking order, top first; clicking a series hides or shows it. */
import type { StepView } from "./step_view";
import type { StepSeries } from "./steps";

export function StepLegend({
  series,
  view,
}: {
  series: readonly StepSeries[];
  view: Pick<StepView, "hidden" | "toggle">;
}) {
  return (
    <ul class="plain step-legend" aria-label="Series, from the top of the stack">
      {series.toReversed().map(({ id, label, color }) => {
        const isHidden = view.hidden.has(id);
        return (
          <li key={id}>
            <button
              type="button"
              aria-pressed={!isHidden}
              title={isHidden ? `Show “${label}”` : `Hide “${label}”`}
              aria-label={label}
              onClick={() => view.toggle(id)}
            >
              <span class="swatch" style={{ background: isHidden ? "transparent" : color }} />
              {label}
            </button>
          </li>
        );
      })}
    </ul>
  );
}
