/** A text field at the flag of a mark, which edits its label. */
import type { Signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { SmallButton } from "../../../widgets/controls/buttons";
import type { TimelineModel } from "../model/model";
import { toX } from "../model/view/view_math";

interface MarkEditorProps {
  readonly model: TimelineModel;
  /** The index of the mark, -1 for none. */
  readonly edited: Pick<Signal<number>, "value">;
}

const WIDTH = 220;
const MOST = 60;

export function MarkEditor({ model, edited }: MarkEditorProps) {
  const field = useRef<HTMLInputElement>(null);
  const at = edited.value;
  const mark = model.marks.value[at];
  useEffect(() => {
    field.current?.select();
  }, [at]);
  if (!mark) return null;
  const { value: width } = model.width;
  const x = toX(mark.from, model.view.value, width);
  const close = () => {
    edited.value = -1;
  };
  const change = (label: string | null) => {
    const { marks } = model;
    marks.value =
      label === null
        ? marks.peek().filter((_, other) => other !== at)
        : marks.peek().map((old, other) => (other === at ? { ...old, label } : old));
    close();
  };
  return (
    <form
      class="timeline-mark"
      style={{ left: `${Math.max(0, Math.min(x, width - WIDTH))}px` }}
      onSubmit={(event) => {
        event.preventDefault();
        change(field.current?.value.trim() || mark.label);
      }}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.preventDefault();
        close();
      }}
    >
      <input
        ref={field}
        key={at}
        type="text"
        maxLength={MOST}
        aria-label="Label of the mark"
        defaultValue={mark.label}
        onBlur={(event) => {
          const { relatedTarget } = event;
          if (!(relatedTarget instanceof HTMLButtonElement))
            change(event.currentTarget.value.trim() || mark.label);
        }}
      />
      <SmallButton onClick={() => change(null)}>Remove</SmallButton>
    </form>
  );
}
