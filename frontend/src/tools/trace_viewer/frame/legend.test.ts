import { expect, test } from "vitest";
import { ofGroups } from "./legend";

test("categories of one color are one entry, those without a meaning come last", () => {
  const entries = ofGroups([
    { name: "other", meaning: "" },
    { name: "compute", meaning: "compute" },
    { name: "copies", meaning: "copy" },
    { name: "waiting", meaning: "idle" },
  ]);
  expect(entries.map(({ label, title }) => [label, title])).toEqual([
    ["compute", "compute"],
    ["copies", "copies"],
    ["waiting and other", "other, waiting"],
  ]);
});
