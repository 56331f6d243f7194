/** What threads did in the time of the average step that nothing covers: a bar with its table. */
import { useState } from "preact/hooks";
import { PartTable } from "../../widgets/stacked_bar/part_table";
import { StackedBar } from "../../widgets/stacked_bar/stacked_bar";
import type { IdlePart } from "./payload";
import { idleRows } from "./step_parts";

export function IdleParts({ parts }: { readonly parts: readonly IdlePart[] }) {
  const [pointed, point] = useState<string | null>(null);
  const { title, total, rows } = idleRows(parts);
  if (total <= 0) return null;
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
