import { render } from "preact";
import { act } from "preact/test-utils";
import { beforeEach, expect, test } from "vitest";
import { sampleColumns } from "../../table/sample.test_helper";
import { columnPlaces } from "./places";
import { useWidths, type Widths } from "./widths";

let widths: Widths;
let set: (id: string, width: number | null) => void;

function Probe({ label }: { label: string }) {
  [widths, set] = useWidths(label);
  return null;
}

function open(label: string) {
  act(() => render(null, document.body));
  act(() => render(<Probe label={label} />, document.body));
}

beforeEach(() => localStorage.clear());

test("a width is kept for tables of the same name, until it is the usual one again", () => {
  open("Ops");
  act(() => set("name", 420.4));
  act(() => set("time", 5));
  open("Kernels");
  expect(widths).toEqual({});
  open("Ops");
  expect(widths).toEqual({ name: 420, time: 40 });
  act(() => set("name", null));
  open("Ops");
  expect(widths).toEqual({ time: 40 });
});

test.each(["{", "3", '{"Ops":7}', '{"Ops":{"name":"wide","time":-1}}'])(
  "storage %s is not widths",
  (text) => {
    localStorage.setItem("tbprof.widths", text);
    open("Ops");
    expect(widths).toEqual({});
  },
);

test("names take the room that is left, unless their width was chosen", () => {
  const columns = sampleColumns(
    { rank: [1], name: ["a"], time: [2] },
    { rank: { isSticky: true, width: 60 }, name: { isName: true, isSticky: true, width: 200 } },
  );
  expect(columnPlaces(columns)).toEqual({
    template: "60px minmax(200px, 1fr) 100px",
    width: 360,
    left: ["0px", "60px", undefined],
  });
  expect(columnPlaces(columns, { rank: 80, name: 300 })).toEqual({
    template: "80px 300px minmax(100px, 1fr)",
    width: 480,
    left: ["0px", "80px", undefined],
  });
});
