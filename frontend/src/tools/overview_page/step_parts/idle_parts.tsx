/** What threads did in “All others” of the average step: a bar with its table. */
import { useState } from "preact/hooks";
import type { Microseconds } from "../../../base/units";
import { PartTable } from "../../../widgets/stacked_bar/part_table";
import { StackedBar } from "../../../widgets/stacked_bar/stacked_bar";
import type { IdlePart } from "../payload";
import { idleRows } from "./step_parts";

/** The smallest share of the step that is shown. */
const LITTLE = 0.001;

interface IdlePartsProps {
  readonly parts: readonly IdlePart[];
  /** The time of the average step. */
  readonly stepTime: Microseconds;
}

export function IdleParts({ parts, stepTime }: IdlePartsProps) {
  const [pointed, point] = useState<string | null>(null);
  const { title, total, rows } = idleRows(parts);
  if (!(total > LITTLE * stepTime)) return null;
  return (
    <section class="idle-parts" aria-label={title}>
      <h3>{title}</h3>
      <StackedBar
        label={title}
        parts={rows.filter(({ isPart }) => !isPart)}
        pointed={pointed}
        point={point}
      />
      <PartTable
        label={title}
        rows={rows}
        total={total}
        whole="All others"
        pointed={pointed}
        point={point}
      />
    </section>
  );
}
