import { expect, test, vi } from "vitest";
import { createPage } from "../../page/page";
import { sampleTimeline } from "../../protocol/sample.test_helper";
import { placeHosts } from "../place_hosts";
import { followPlaces, goBack, trailOf } from "./view_trail";

const span = (from: number, to: number) => ({ from, to });
const trail = (...views: { from: number; to: number }[]) =>
  trailOf(views.map((view) => ({ view, range: null })));

test("the trail leads from view to view that lies within it", () => {
  const [whole, step, part] = [span(0, 1000), span(100, 300), span(110, 130)];
  expect(trail(whole, step, part)).toEqual([whole, step, part]);
  // Beside it, and out again.
  expect(trail(whole, step, part, span(140, 160))).toEqual([whole, step, span(140, 160)]);
  expect(trail(whole, step, part, step)).toEqual([whole, step]);
  expect(trail(whole, step, span(500, 700))).toEqual([whole, span(500, 700)]);
  expect(trail()).toEqual([]);
});

test("Back undoes one zoom or range after the other", () => {
  vi.useFakeTimers();
  const { model } = createPage("r");
  model.hosts.value = placeHosts([{ events: sampleTimeline(), derived: null }]);
  const stop = followPlaces(model);
  const rest = () => vi.advanceTimersByTime(500);
  const [whole, step, part] = [span(0, 1000), span(100, 300), span(110, 130)];
  model.view.value = whole;
  rest();
  model.view.value = step;
  rest();
  model.range.value = { ...span(120, 140), tracks: null };
  rest();
  // Not at rest yet: it is undone all the same.
  model.view.value = part;
  const seen = () => [model.view.value, model.range.value?.from ?? null];
  const undone = () => {
    const isBack = goBack(model);
    rest();
    return [isBack, ...seen()];
  };
  expect(undone()).toEqual([true, step, 120]);
  expect(undone()).toEqual([true, step, null]);
  expect(undone()).toEqual([true, whole, null]);
  expect(undone()).toEqual([false, whole, null]);
  stop();
  vi.useRealTimers();
});
