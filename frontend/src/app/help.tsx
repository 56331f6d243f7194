/** Help: the page's own explanations, every key binding, and the syntax of table filters. */
import type { ComponentType } from "preact";
import { boundKeys } from "../base/keys";
import { Dialog } from "../widgets/overlays/dialog";
import { KeyList } from "../widgets/text/key_list";

const FILTERS: readonly (readonly [text: string, meaning: string])[] = [
  ["conv", "text that contains “conv”, ignoring case"],
  ["=MatMul", "exactly “MatMul”"],
  ["/^conv.*grad/", "a regular expression"],
  [">5ms  <=10%", "a comparison, with or without a unit"],
  ["1ms..5ms", "a range, including its ends"],
  ["yes  no", "for yes/no columns"],
  ["!text", "rows that do not match"],
];

interface HelpProps {
  /** The help text of the open page. */
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
          <h3>Table filters</h3>
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
