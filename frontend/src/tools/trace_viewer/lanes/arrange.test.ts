import { expect, test } from "vitest";
import type { TimelineModel } from "../model/model";
import { placeHosts } from "../model/place_hosts";
import { createPage } from "../page/page";
import { sampleTimeline } from "../protocol/sample.test_helper";
import { fold, hide, leading, move, nameOf, togglePin, unhide } from "./arrange";

function modelOf(): TimelineModel {
  const { model } = createPage("r");
  const tracks = ["a", "b", "c", "d"].map((name, id) => ({
    id,
    section: 0,
    name,
    kind: "thread",
    row: id,
    rows: 1,
    events: 1,
  }));
  const sections = [
    { id: 0, name: "/host:CPU", label: "Host", kind: "host", tracks: [0, 1, 2, 3] },
  ];
  model.hosts.value = placeHosts([{ events: sampleTimeline({ tracks, sections }), derived: null }]);
  return model;
}

const names = (model: TimelineModel) =>
  model.lanes.value.scrolled.flatMap((lane) =>
    lane.kind === "track" ? [lane.item.track.name] : [],
  );
const pinned = (model: TimelineModel) =>
  model.lanes.value.pinned.map((lane) => (lane.kind === "track" ? lane.item.track.name : ""));

test("a track goes before or after another one", () => {
  const model = modelOf();
  move(model, "e3@h0", "e0@h0", false);
  expect(names(model)).toEqual(["d", "a", "b", "c"]);
  expect(model.arrangement.value.order).toEqual(["e3@h0"]);
  move(model, "e0@h0", "e2@h0", true);
  expect(names(model)).toEqual(["d", "b", "c", "a"]);
  move(model, "e3@h0", "e2@h0", true);
  move(model, "e0@h0", "e1@h0", false);
  expect(names(model)).toEqual(["a", "b", "c", "d"]);
  expect(model.arrangement.value.order).toEqual([]);
});

test("only tracks of one section change places", () => {
  const model = modelOf();
  move(model, "e3@h0", "s/host:CPU@h0", false);
  expect(model.arrangement.value.order).toEqual([]);
});

test("what follows in natural order need not be said", () => {
  expect(leading(["c", "a", "b"], ["a", "b", "c"])).toEqual(["c"]);
  expect(leading(["a", "b", "c"], ["a", "b", "c"])).toEqual([]);
  expect(leading(["b", "a", "c"], ["a", "b", "c"])).toEqual(["b"]);
});

test("pinned tracks have an order of their own", () => {
  const model = modelOf();
  togglePin(model, "e0@h0");
  togglePin(model, "e2@h0");
  expect(pinned(model)).toEqual(["a", "c"]);
  move(model, "e2@h0", "e0@h0", false);
  expect(pinned(model)).toEqual(["c", "a"]);
  togglePin(model, "e2@h0");
  expect(pinned(model)).toEqual(["a"]);
});

test("hidden tracks go, unpinned, and come back", () => {
  const model = modelOf();
  togglePin(model, "e1@h0");
  hide(model, "e1@h0");
  expect([names(model), pinned(model)]).toEqual([["a", "c", "d"], []]);
  expect(nameOf(model.groups.value, "e1@h0")).toBe("b");
  unhide(model, ["e1@h0"]);
  expect(names(model)).toEqual(["a", "b", "c", "d"]);
});

test("a folded section has no tracks", () => {
  const model = modelOf();
  fold(model, ["s/host:CPU@h0"], true);
  expect(names(model)).toEqual([]);
  fold(model, ["s/host:CPU@h0"], false);
  expect(names(model)).toHaveLength(4);
});
