/** The details panel of a node beside its graph; Escape closes it. */
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import "./graph.css";

interface DetailsAsideProps {
  readonly class?: string;
  readonly title: string;
  /** Beside the title. */
  readonly tag?: ComponentChildren;
  readonly close: () => void;
  readonly children: ComponentChildren;
}

export function DetailsAside(props: DetailsAsideProps) {
  const { title, tag, close, children } = props;
  const id = useId();
  return (
    <aside
      class={`graph-details ${props.class ?? ""}`}
      aria-labelledby={id}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || event.defaultPrevented) return;
        event.preventDefault();
        close();
      }}
    >
      <header class="card-head">
        <h3 class="one-line" id={id} title={title.slice(0, 2000)}>
          {title.slice(0, 200)}
        </h3>
        {tag}
        <span class="space" />
        <button type="button" class="icon" aria-label="Close the details" onClick={close}>
          ✕
        </button>
      </header>
      {children}
    </aside>
  );
}
