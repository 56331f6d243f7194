/** The keys there are, from the table that binds them, and what else the page explains. */
import type { ComponentType } from "preact";
import { boundKeys } from "../base/keys";
import { Dialog } from "../widgets/overlays/dialog";
import { KeyList } from "../widgets/text/key_list";

const FILTERS: readonly (readonly [text: string, meaning: string])[] = [
  ["conv", "names that contain “conv”, in any case"],
  ["=MatMul", "exactly “MatMul”"],
  ["/^conv.*grad/", "a regular expression"],
  [">5ms  <=10%", "larger or smaller, with or without a unit"],
  ["1ms..5ms", "a range, including its ends"],
  ["yes  no", "for yes/no columns"],
  ["!text", "everything else"],
];

interface HelpProps {
  /** Of the page that is shown. */
  readonly Page?: ComponentType;
  readonly close: () => void;
}

export function Help({ Page, close }: HelpProps) {
  const bindings = boundKeys.value.flat();
  const sections = [...new Set(bindings.map((binding) => binding.section))];
  return (
    <Dialog title="Help" close={close}>
      <div class="help">
        {Page ? <Page /> : null}
        {sections.map((section) => (
          <section key={section}>
            <h3>{section}</h3>
            <KeyList bindings={bindings.filter((binding) => binding.section === section)} />
          </section>
        ))}
        <section>
          <h3>Filters of a table</h3>
          <dl>
            {FILTERS.map(([text, meaning]) => (
              <div key={text}>
                <dt>
                  <code>{text}</code>
                </dt>
                <dd>{meaning}</dd>
              </div>
            ))}
          </dl>
        </section>
      </div>
    </Dialog>
  );
}
