/** Memoized components. */
import { Component, type FunctionComponent, h } from "preact";

/** A component that is rendered again only when one of its properties changes. */
export function steady<Props extends object>(View: FunctionComponent<Props>) {
  return class extends Component<Props> {
    shouldComponentUpdate(next: Readonly<Props>): boolean {
      const before: Readonly<Props> = this.props;
      const names = Object.keys({ ...before, ...next }) as (keyof Props)[];
      return names.some((name) => !Object.is(before[name], next[name]));
    }

    render() {
      return h(View, this.props as Props);
    }
  };
}
