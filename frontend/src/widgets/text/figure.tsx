/** A key figure; its label opens an explanation of how it is computed. */
import { Explained } from "../overlays/why";
import type { Explanation } from "../table/columns";

interface FigureProps {
  readonly title: string;
  readonly value: string;
  readonly note?: string;
  readonly explanation: Explanation;
}

export function Figure({ title, value, note, explanation }: FigureProps) {
  return (
    <div class="card figure">
      <div class="figure-title">
        <Explained label={title} explanation={explanation} />
      </div>
      <div class="figure-value">{value}</div>
      {note ? <div class="muted">{note}</div> : null}
    </div>
  );
}
