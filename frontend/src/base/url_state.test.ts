import { expect, test } from "vitest";
import { formatPlace, NOWHERE, parsePlace, patchView, readMirror, writeMirror } from "./url_state";

const PLACE = {
  run: "train/2026 & more",
  tool: "kernel_stats",
  hosts: ["h0", "a,b"],
  view: { sort: "-total", "f.name": "/a=b&c/" },
};

test("a place survives its text", () => {
  expect(parsePlace(`#${formatPlace(PLACE)}`)).toEqual(PLACE);
  expect(parsePlace("")).toEqual(NOWHERE);
  expect(parsePlace("#%E0%A4%A&run=%")).toMatchObject({ run: "%" });
});

test("what is too long for an address is left out", () => {
  expect(formatPlace({ ...PLACE, view: { "f.name": "a".repeat(5000), idle: "1" } })).toMatch(
    /idle=1$/,
  );
});

test("views are patched, null removes", () => {
  expect(patchView({ a: "1", b: "2" }, { a: null, c: "3" })).toEqual({ b: "2", c: "3" });
});

test("the parent's hash keeps its other parts", () => {
  const text = formatPlace(PLACE);
  const hash = writeMirror("#profile&p.other.x=1&p.profile.s=old", "profile", text);
  expect(hash.startsWith("#profile&p.other.x=1&p.profile.s=run%3D")).toBe(true);
  expect(readMirror(hash, "profile")).toBe(text);
  expect(readMirror("#profile&p.profile.s=%", "profile")).toBe("");
  expect(writeMirror("#profile&p.profile.s=old", "profile", "")).toBe("#profile");
});
