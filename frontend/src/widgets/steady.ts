/** Components that are rendered again only when one of their properties changes. */
import { Component, type FunctionComponent, h } from "preact";

/** The same component, which stays as it is where whatever is around it is rendered again. */
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
