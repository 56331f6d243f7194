import { expect, test } from "vitest";
import { type Address, readAddress, writeAddress } from "./address";

const PLAIN = readAddress({});

function roundTrip(address: Address): Address {
  const entries = Object.entries(writeAddress(address)).filter((entry) => entry[1] !== null);
  return readAddress(Object.fromEntries(entries) as Record<string, string>);
}

test("a page as it opens has nothing in the address", () => {
  expect(Object.values(writeAddress(PLAIN)).every((value) => value === null)).toBe(true);
});

test("everything goes to the address and back, whatever names hold", () => {
  const address: Address = {
    span: { from: 1_919_033_505_001, to: 2_775_192_499_000 },
    step: "",
    event: { host: "a@b,c%2C", part: "derived", id: 4_294_967_295 },
    range: { from: 5, to: 1_000_000_000, tracks: ["e0@h,0", "cd2@h%"] },
    marks: [
      { from: -3, to: -3, label: "a~b, 5 %" },
      { from: 1, to: 2, label: "" },
    ],
    search: { text: "arg:a=b & ,c", isRegex: true, isCase: true },
    filter: { name: "x", isRegex: true, isCase: true, categories: ["A, B", "C"], minPs: 1500 },
    color: "step",
    tool: "timing",
    pinned: ["e1@h", "e0@h"],
    hidden: ["s/host:CPU@h"],
    folds: ["h@h"],
    order: ["e2@h", "e1@h"],
    trackFilter: "Stream",
    isIdleShown: true,
    tab: "hits",
    by: "track",
    calls: { isTree: true, isBottomUp: false, isByTrack: true },
    isList: true,
  };
  expect(roundTrip(address)).toEqual(address);
});

test("pins of the page's own are not in the address, but that there are none is", () => {
  expect(PLAIN.pinned).toBeNull();
  expect(writeAddress({ ...PLAIN, pinned: [] }).pin).toBe("none");
  expect(roundTrip({ ...PLAIN, pinned: [] }).pinned).toEqual([]);
});

test.each([
  ["a step of another page", { step: "train 3" }, { step: "train 3", span: null }],
  ["times of another page", { from_ms: "1.5", to_ms: "2" }, { span: { from: 1.5e9, to: 2e9 } }],
  ["times in the wrong order", { from_ms: "2", to_ms: "1" }, { span: null }],
  ["no times", { from_ms: "1e999", to_ms: "x" }, { span: null }],
  ["no event", { event: "x1@h" }, { event: null }],
  ["no range", { range: "1..2..3" }, { range: null }],
  [
    "unknown choices",
    { color: "red", mode: "fly", tab: "x", by: "y" },
    { color: "name", tab: null },
  ],
  ["no duration", { min_us: "-4" }, { filter: PLAIN.filter }],
])("%s", (_, view, expected) => {
  expect(readAddress(view as unknown as Record<string, string>)).toMatchObject(expected);
});
