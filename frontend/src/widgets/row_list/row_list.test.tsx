import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, expect, test } from "vitest";
import { press as pressOn } from "../dom.test_helper";
import { RowList } from "./row_list";

afterEach(() => act(() => render(null, document.body)));

const chosen: number[] = [];
const seen: number[] = [];

function show(length: number, selected = -1) {
  chosen.length = 0;
  seen.length = 0;
  act(() =>
    render(
      <RowList
        label="Rows"
        columns={[
          { id: "a", title: "A", isSortable: true, cell: (row) => `<b>${row}</b>` },
          { id: "b", title: "B", isNumber: true, width: 60, cell: (row) => row * 2 },
        ]}
        length={length}
        selected={selected}
        choose={(row) => chosen.push(row)}
        seen={(last) => seen.push(last)}
        empty="Nothing here."
        of={length}
      />,
      document.body,
    ),
  );
}

const list = () => document.querySelector<HTMLElement>('[role="grid"]')!;
const rows = () => [...document.querySelectorAll(".trace-rows-body .trace-row")];

const press = (key: string) => pressOn(list(), key);

test("of a hundred thousand rows only the visible ones exist, as text", () => {
  show(100_000);
  expect(rows().length).toBeLessThan(40);
  expect(rows()[0].textContent).toBe("<b>0</b>0");
  expect(list().getAttribute("aria-rowcount")).toBe("100001");
  expect(seen.at(-1)).toBeLessThan(40);
});

test("keys move and choose", () => {
  show(20);
  press("ArrowDown");
  press("Enter");
  press("End");
  press(" ");
  press("ArrowDown");
  press("Home");
  press("Enter");
  expect(chosen).toEqual([1, 19, 0]);
});

test("a click chooses, and the selected row says so", () => {
  show(5, 3);
  expect(document.querySelector('[aria-selected="true"]')?.textContent).toBe("<b>3</b>6");
  act(() => (rows()[1] as HTMLElement).click());
  expect(chosen).toEqual([1]);
});

test("without rows there is a reason", () => {
  show(0);
  expect(document.querySelector(".trace-rows-empty")?.textContent).toBe("Nothing here.");
  press("Enter");
  expect(chosen).toEqual([]);
});
