import { signal } from "@preact/signals";
import { render } from "preact";
import { useState } from "preact/hooks";
import { act } from "preact/test-utils";
import { beforeEach, expect, test } from "vitest";
import { encodeTexts } from "../../api/data_table";
import type { View } from "../../base/url_state";
import { press as pressOn } from "../dom.test_helper";
import { tableCsv } from "../table/export";
import type { Grouping } from "../table/group";
import { chooseGrouping, countText, type TableModel, useTableModel } from "../table/model";
import { sampleTable } from "../table/sample.test_helper";
import { Grid } from "./grid";

const TABLE = sampleTable({
  name: ["<b>matmul</b>", "relu", "=cmd"],
  time: [1500, null, 20],
  used: [true, false, null],
  call: ["f", "f", "g"],
  unit: ["yes", "unknown", "no"],
});
const SPECS = [
  { id: "name", title: "Name", isName: true, width: 200, isShown: true, group: { how: "label" } },
  { id: "time", title: "Time", quantity: "time", width: 100, isShown: true, group: { how: "sum" } },
  { id: "used", title: "Used", width: 100, isShown: true, group: { how: "same" } },
  { id: "call", title: "Call", width: 100, isShown: false, group: { how: "same" }, noun: "call" },
  { id: "unit", title: "Unit", width: 100, isShown: false, group: { how: "same" } },
] as const;

let model: TableModel;
let standard: string | null = null;
const GROUPINGS: readonly Grouping[] = [
  { id: "used", label: "Used", keys: () => encodeTexts("used", "Used", ["x", "y", "x"]) },
];
const highlight = signal(null);
const shown: number[] = [];

function Page({ start }: { start: View }) {
  const [view, setView] = useState(start);
  model = useTableModel({
    table: TABLE,
    specs: SPECS,
    groupings: GROUPINGS,
    defaultGrouping: () => standard,
    rankBy: "time",
    noun: "op",
    view,
    select: (patch) => {
      const entries = Object.entries({ ...view, ...patch }).filter((entry) => entry[1] !== null);
      setView(Object.fromEntries(entries) as View);
    },
  });
  return (
    <Grid
      model={model}
      label="Ops"
      highlight={highlight}
      detail={(row) => <p>row {row}</p>}
      toTimeline={(row) => shown.push(row)}
    />
  );
}

beforeEach(() => {
  standard = null;
  act(() => render(null, document.body));
});

function show(start: View = {}) {
  act(() => render(<Page start={start} />, document.body));
}

const cells = () =>
  [...document.querySelectorAll(".grid-body .grid-row")].map((row) =>
    [...row.querySelectorAll(".cell")].map((cell) => cell.textContent),
  );

const press = (key: string) => pressOn(document.querySelector(".grid"), key);

test("cells are text, in one unit per column, with a dash where nothing was measured", () => {
  show();
  expect(cells()).toEqual([
    ["▸<b>matmul</b>", "1,500", "✓ yes"],
    ["▸relu", "–", "✕ no"],
    ["▸=cmd", "20.0", "–"],
  ]);
  expect(document.querySelector("b")).toBeNull();
  expect(document.querySelector(".grid-body .muted")?.getAttribute("title")).toBe("Not measured");
  expect(document.querySelector('[role="columnheader"]:nth-child(2)')?.textContent).toContain("µs");
});

test("the texts yes and no look like flags", () => {
  show({ cols: "name,unit" });
  expect(cells().map((row) => row[1])).toEqual(["✓ yes", "unknown", "✕ no"]);
});

test("a click on a header sorts and says so", () => {
  show();
  act(() => document.querySelectorAll<HTMLElement>(".sort")[1].click());
  act(() => document.querySelectorAll<HTMLElement>(".sort")[1].click());
  expect(cells().map((row) => row[0])).toEqual(["▸=cmd", "▸<b>matmul</b>", "▸relu"]);
  expect(document.querySelectorAll('[aria-sort="ascending"]')).toHaveLength(1);
});

test("a bad pattern is named beside its field and hides nothing", () => {
  show({ "f.name": "/(/" });
  expect(cells()).toHaveLength(3);
  expect(document.querySelector(".filter-error")?.textContent).toMatch(/Invalid/);
});

test("the total counts rows, in the singular for one", () => {
  show({ "f.name": "nothing" });
  expect(document.querySelector(".grid-foot")?.textContent).toContain("Total of 0 of 3 ops");
  expect(countText({ ...model, table: { ...model.table, length: 1 } })).toBe("0 of 1 op");
});

test("filters that no row passes can be cleared", () => {
  show({ "f.name": "nothing" });
  expect(document.querySelector(".grid-none")?.textContent).toContain("No ops match");
  act(() => document.querySelector<HTMLElement>(".grid-none button")?.click());
  expect(cells()).toHaveLength(3);
});

test("the keyboard moves and opens rows", () => {
  show();
  press("ArrowDown");
  press("Enter");
  expect(document.querySelector(".grid-row.active .name")?.textContent).toBe("relu");
  expect(document.querySelector(".grid-detail")?.textContent).toBe("row 1");
  press("End");
  expect(document.querySelector(".grid-row.active .name")?.textContent).toBe("=cmd");
});

test("g shows the row on the timeline, whatever the order", () => {
  show({ sort: "-time" });
  press("ArrowDown");
  press("g");
  show({ sort: "name" });
  press("g");
  expect(shown).toEqual([2, 2]);
});

test("rows have the default grouping until another one is chosen", () => {
  standard = "used";
  show();
  expect(cells()).toEqual([
    ["▸x2", "1,520", "…"],
    ["▸y", "–", "✕ no"],
  ]);
  expect(model.grouping?.id).toBe("used");
  act(() => chooseGrouping(model, null));
  expect([model.view.group, cells().length]).toEqual(["none", 3]);
  act(() => chooseGrouping(model, GROUPINGS[0]));
  expect([model.view.group, cells().length]).toEqual([undefined, 2]);
});

test("a column with a noun says how many different texts a group has", () => {
  show({ group: "used", cols: "name,call" });
  expect(cells()).toEqual([
    ["▸x2", "2 calls"],
    ["▸y", "f"],
  ]);
});

test("a group opens to its rows, a group of one row like the row", () => {
  show({ group: "used" });
  press("Enter");
  expect(cells().map((row) => row[0])).toEqual(["▾x2", "▸<b>matmul</b>", "▸=cmd", "▸y"]);
  expect(document.querySelector(".grid-detail")).toBeNull();
  press("End");
  press("Enter");
  expect(document.querySelector(".grid-detail")?.textContent).toBe("row 1");
});

test("keys on a header change the width of its column and restore the default", () => {
  localStorage.clear();
  show();
  const template = () => document.querySelector<HTMLElement>(".grid")!.style.cssText;
  const standard = template();
  const pressOnName = (key: string) =>
    pressOn(document.querySelector(".sort"), key, { altKey: true });
  pressOnName("ArrowRight");
  expect(template()).not.toBe(standard);
  pressOnName("Home");
  expect(template()).toBe(standard);
});

test("the CSV is what is shown, in base units, safe for spreadsheets", () => {
  show({ sort: "time", cols: "name,time" });
  expect(tableCsv(model)).toBe("Name,Time (µs)\r\n'=cmd,20\r\n<b>matmul</b>,1500\r\nrelu,\r\n");
});
