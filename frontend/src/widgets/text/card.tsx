/** A card with a title. */
import type { ComponentChildren, Ref } from "preact";
import { useId } from "preact/hooks";
import { Explained } from "../overlays/why";
import type { Explanation } from "../table/columns";

interface CardProps {
  readonly title: string;
  readonly class: string;
  /** How its figures are computed; `title` if it differs from the card's. */
  readonly why?: Explanation & { readonly title?: string };
  /** Beside the title. */
  readonly head?: ComponentChildren;
  readonly isBusy?: boolean;
  readonly place?: Ref<HTMLElement>;
  readonly children: ComponentChildren;
}

export function Card({ title, class: name, why, head, isBusy, place, children }: CardProps) {
  const id = useId();
  return (
    <section class={`card titled ${name}`} aria-labelledby={id} aria-busy={isBusy} ref={place}>
      <header class="card-head">
        <h2 id={id}>
          {why ? <Explained label={title} title={why.title} explanation={why} /> : title}
        </h2>
        {head}
      </header>
      {children}
    </section>
  );
}
