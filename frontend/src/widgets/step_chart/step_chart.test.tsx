import { render } from "preact";
import { useState } from "preact/hooks";
import { act } from "preact/test-utils";
import { beforeEach, expect, test, vi } from "vitest";
import { patchView, type View } from "../../base/url_state";
import { named, press as pressOn } from "../dom.test_helper";
import type { PlotEvents, PlotInput } from "./plot";
import { StepChart } from "./step_chart";
import { useStepView } from "./step_view";

const drawn: PlotInput[] = [];
let pointer: PlotEvents;

// Canvases are not drawn here: what reaches the plot is looked at instead.
vi.mock("./plot", () => ({
  createPlot: (_: HTMLElement, input: PlotInput, events: PlotEvents) => {
    drawn.push(input);
    pointer = events;
    return {
      update: (next: PlotInput) => drawn.push(next),
      mark: (step: number | null) => (step === null ? null : { left: 10, width: 5, total: 900 }),
      beside: (step: number | null, by: number) =>
        Math.max(0, Math.min((step ?? (by > 0 ? -1 : 3)) + by, 2)),
      recolor: () => {},
      destroy: () => {},
    };
  },
}));

const STEPS = { labels: ["7", "8", "<b>9</b>"], isTruncated: [false, false, true] };
const SERIES = [
  {
    id: "compute",
    label: "Compute",
    color: "var(--c-compute16)",
    values: new Float64Array([1000, 2000, 500]),
  },
  {
    id: "input",
    label: "Input",
    color: "var(--c-input)",
    values: new Float64Array([1000, 500, 500]),
  },
  { id: "none", label: "Nothing", color: "var(--c-idle)", values: new Float64Array(3) },
];
const opened: number[] = [];
let view: View;

function Page() {
  const [kept, setKept] = useState<View>({});
  view = kept;
  const stepView = useStepView(3, kept, (patch) => setKept((before) => patchView(before, patch)));
  return (
    <StepChart
      title="Step time"
      explanation={{ formula: "f", unit: "u", source: "s" }}
      steps={STEPS}
      series={SERIES}
      quantity="time"
      axisTitle="Time per step"
      view={stepView}
      open={(step) => opened.push(step)}
      openText="opens it"
      fileName="steps"
    />
  );
}

beforeEach(async () => {
  act(() => render(null, document.body));
  drawn.length = 0;
  opened.length = 0;
  act(() => render(<Page />, document.body));
  await act(() => vi.dynamicImportSettled());
});

const slider = () => document.querySelector<HTMLElement>('[role="slider"]')!;
const legend = () => [...document.querySelectorAll<HTMLElement>(".step-legend button")];

const press = (key: string) => pressOn(slider(), key);

test("the legend goes as the stack, from its top, and leaves out what never was", () => {
  expect(legend().map((button) => button.textContent)).toEqual(["Input", "Compute"]);
  expect(drawn.at(-1)?.series.map(({ id }) => id)).toEqual(["compute", "input"]);
});

test("a click on the legend hides a part, in the address too", () => {
  act(() => legend()[0].click());
  expect(legend()[0].getAttribute("aria-pressed")).toBe("false");
  expect(drawn.at(-1)?.series.map(({ id }) => id)).toEqual(["compute"]);
  expect(view).toEqual({ hide: "input" });
  act(() => legend()[0].click());
  expect(view).toEqual({});
});

test("arrow keys move over the steps and Enter opens", () => {
  expect(slider().getAttribute("aria-valuetext")).toBe("no step");
  press("ArrowRight");
  press("ArrowRight");
  expect(slider().getAttribute("aria-valuetext")).toBe(
    "Step 8, 2.50 ms, Compute 2.00 ms, Input 500 µs",
  );
  expect(slider().getAttribute("aria-valuenow")).toBe("1");
  press("Enter");
  expect(opened).toEqual([1]);
  press("End");
  expect(slider().getAttribute("aria-valuetext")).toContain("not fully recorded");
});

test("the card under the pointer has every part with time and share, as text", () => {
  act(() => {
    slider().dispatchEvent(new MouseEvent("mouseenter"));
    pointer.point(2);
  });
  const cells = [...document.querySelectorAll(".step-card tr")].map((row) =>
    [...row.querySelectorAll("td")].map((cell) => cell.textContent),
  );
  expect(document.querySelector(".step-card-head")?.textContent).toBe("<b>9</b>1.00 ms");
  expect(cells).toEqual([
    ["Input", "0.500 ms", "50.0 %"],
    ["Compute", "0.500 ms", "50.0 %"],
  ]);
  expect(document.querySelector(".step-card")?.textContent).toContain("left out of averages");
});

test("a range is kept in the address, and a button takes it back", () => {
  act(() => pointer.zoom([1, 3]));
  expect(view).toEqual({ zoom: "1..3" });
  expect(drawn.at(-1)).toMatchObject({ from: 1, to: 3 });
  act(() => named("button", "All 3 steps")?.click());
  expect(view).toEqual({});
});
