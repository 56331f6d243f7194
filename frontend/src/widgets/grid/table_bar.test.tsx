import { signal } from "@preact/signals";
import { render } from "preact";
import { useState } from "preact/hooks";
import { act } from "preact/test-utils";
import { beforeEach, expect, test } from "vitest";
import type { View } from "../../base/url_state";
import { named, press } from "../dom.test_helper";
import { useTableModel } from "../table/model";
import { sampleTable } from "../table/sample.test_helper";
import { ExportButton } from "./export_button";
import { Grid } from "./grid";
import { TableBar } from "./table_bar";

const TABLE = sampleTable({ time: [1500, 20], name: ["matmul", "relu"] });
const SPECS = [
  { id: "time", title: "Time", quantity: "time", width: 100, isShown: true, group: { how: "sum" } },
  { id: "name", title: "Name", isName: true, width: 200, isShown: true, group: { how: "label" } },
] as const;
const highlight = signal(null);

function Page() {
  const [view, setView] = useState<View>({});
  const model = useTableModel({
    table: TABLE,
    specs: SPECS,
    groupings: [],
    rankBy: "time",
    noun: "op",
    view,
    select: (patch) => setView({ ...view, ...patch } as View),
  });
  return (
    <>
      <TableBar model={model} />
      <Grid model={model} label="Ops" highlight={highlight} detail={() => null} />
    </>
  );
}

beforeEach(() => {
  act(() => render(null, document.body));
  act(() => render(<Page />, document.body));
});

const focused = () => document.activeElement?.getAttribute("aria-label") ?? null;

test("what is typed after the filter key lands in the name's filter, without a frame between", () => {
  expect(focused()).toBeNull();
  press(document.body, "f");
  expect(focused()).toBe("Filter by Name");
});

test("the filter key finds the field where the filters are open already", () => {
  press(document.body, "f");
  (document.activeElement as HTMLElement).blur();
  press(document.body, "f");
  expect(focused()).toBe("Filter by Name");
});

test("filters opened by the button leave the focus where it is", () => {
  press(document.body, "f");
  const button = [...document.querySelectorAll("button")].find((candidate) =>
    candidate.textContent?.startsWith("Filter"),
  )!;
  act(() => button.click());
  expect(document.querySelector(".filter-cell")).toBeNull();
  button.focus();
  act(() => button.click());
  expect(document.querySelector(".filter-cell")).not.toBeNull();
  expect(document.activeElement).toBe(button);
});

test("while rows come in batches, the count says how many are missing, and nothing is exported", () => {
  function Loading() {
    const model = useTableModel({
      table: { ...TABLE, expected: 1502 },
      specs: SPECS,
      groupings: [],
      rankBy: "time",
      noun: "op",
      view: {},
      select: () => {},
    });
    return (
      <>
        <TableBar model={model} />
        <ExportButton model={model} fileName="ops" />
      </>
    );
  }
  act(() => render(<Loading />, document.body));
  expect(document.querySelector(".table-count")?.textContent).toBe("2 ops · loading 1,500 more…");
  expect(named("button", "Export as CSV")).toHaveProperty("disabled", true);
});
