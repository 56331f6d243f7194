/** Statistics of the events with the same name and kind, and buttons to go to them. */
import { useMemo } from "preact/hooks";
import { formatCount, plural } from "../../../base/format";
import { SmallButton } from "../../../widgets/controls/buttons";
import { formatPs } from "../model/time";
import type { Page } from "../page/page";
import { createMoves } from "../page/selection/moves";
import type { EventDetails } from "../protocol/answers";

interface SameNameProps {
  readonly page: Page;
  readonly details: EventDetails;
}

export function SameName({ page, details }: SameNameProps) {
  const moves = useMemo(() => createMoves(page.model), [page]);
  const { sameName, name, category, durationPs } = details;
  if (!sameName) return null;
  const { count, totalPs, meanPs, minPs, maxPs, others } = sameName;
  const facts: readonly (readonly [label: string, value: string])[] = [
    ["Count", formatCount(count)],
    ["Total", formatPs(totalPs)],
    ["Average", formatPs(meanPs)],
    ["Minimum", formatPs(minPs)],
    ["Maximum", formatPs(maxPs)],
  ];
  const compared = compare(durationPs, meanPs, count);
  return (
    <>
      <h2>Same name</h2>
      <dl class="trace-same">
        {facts.map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {others === 0 ? null : (
        <p class="muted">
          {plural(others, "more event")} with this name {others === 1 ? "is" : "are"} of another
          kind, such as launches, and {others === 1 ? "is" : "are"} not counted.
        </p>
      )}
      {compared === "" ? null : <p class="muted">{compared}</p>}
      {count < 2 ? null : (
        <p class="trace-buttons">
          <SmallButton
            title="Search for the name, and list its events"
            onClick={() => {
              const kind = others > 0 && category !== "" ? `category:${category} ` : "";
              const text = `${kind}whole:${name}`;
              page.model.search.value = { text, isRegex: false, isCase: true };
              page.tab.value = "hits";
            }}
          >
            List these events
          </SmallButton>
          <SmallButton onClick={() => moves.go("previous_same")}>◂ Previous</SmallButton>
          <SmallButton onClick={() => moves.go("next_same")}>Next ▸</SmallButton>
        </p>
      )}
    </>
  );
}

/** "This one takes 3.2 times the average." */
function compare(ps: number, mean: number, count: number): string {
  if (count < 2 || !(mean > 0)) return "";
  const times = ps / mean;
  if (times > 0.95 && times < 1.05) return "This one is close to the average.";
  return times >= 1
    ? `This one takes ${times.toPrecision(3)} times the average.`
    : `This one takes ${(100 * times).toPrecision(3)} % of the average.`;
}
