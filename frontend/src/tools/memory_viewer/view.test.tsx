import { render } from "preact";
import { act } from "preact/test-utils";
import { expect, test } from "vitest";
import type { View } from "../../base/url_state";
import { press, text } from "../../widgets/dom.test_helper";
import { eachAnew, noted, pageProps } from "../page.test_helper";
import { parseHeap } from "./payload";
import { sampleHeap, sampleLive } from "./sample.test_helper";
import { ProgramMemoryPage } from "./view";

eachAnew();

function show(more: Record<string, unknown> = {}, view: View = {}) {
  const payload = parseHeap(sampleHeap(more));
  act(() =>
    render(<ProgramMemoryPage payload={payload} view={view} {...pageProps()} />, document.body),
  );
}

const plot = () => document.querySelector(".memory-plot");
const buttons = (selector: string) => [...document.querySelectorAll<HTMLElement>(selector)];

test("one sentence says how much, where, what most of it is, and what is lost", () => {
  show();
  expect(text(".heap-sentence")).toBe(
    "7.00 KiB at the peak, at dot. x takes 42.9 % of it. 512 B is padding. 1.00 KiB more is reserved for gaps between arrays.",
  );
});

test("without a heap, what is in use is in use throughout", () => {
  const { figures, timeline } = sampleHeap();
  show({
    figures: {
      ...(figures as object),
      events: 0,
      peak_event: -1,
      temporary_bytes: 0,
      hole_bytes: 0,
    },
    timeline: {
      ...(timeline as object),
      to_event: 0,
      event: [],
      in_use_bytes: [],
      unpadded_bytes: null,
    },
    live: sampleLive({ event: -1, at: 0 }),
  });
  expect(text(".heap-sentence")).toContain("7.00 KiB throughout.");
  expect(text(".heap-note")).toContain("its content does not change");
  expect(text(".heap-instant-text")).toBe("7.00 KiB in use throughout ");
  press(plot(), "Enter");
  expect(noted.selected).toEqual([]);
});

test("figures have units, and those that are not there say nothing", () => {
  show();
  const figures = Object.fromEntries(
    buttons(".heap-figure").map((row) => [
      row.querySelector("dt")?.textContent,
      row.querySelector("dd")?.textContent,
    ]),
  );
  expect(figures).toEqual({
    Peak: "7.00 KiB",
    Parameters: "3.00 KiB",
    Results: "1.00 KiB",
    "Both (donated)": "0 B",
    Constants: "0 B",
    "Temporary arrays": "3.00 KiB",
    "Padding at the peak": "512 B",
    Gaps: "1.00 KiB",
    "Total reserved": "8.00 KiB",
  });
  show({ space: 1 });
  expect(text(".heap-figure:last-child dd")).toContain("not recorded for any instruction");
});

test("keys choose an event, and go back to the peak", () => {
  show();
  press(plot(), "ArrowRight");
  press(plot(), "Enter");
  press(plot(), "p");
  expect(noted.selected).toEqual([{ instant: "2" }, { instant: null }]);
});

test("keys zoom into events and back", () => {
  show();
  press(plot(), "+");
  expect(noted.selected).toEqual([{ from_event: "1", to_event: "3" }]);
  press(plot(), "-");
  expect(noted.selected[1]).toEqual({ from_event: null, to_event: null });
});

test("a memory space is chosen without the events of another", () => {
  show();
  const [device, host] = buttons(".heap-spaces button");
  expect(device.getAttribute("aria-pressed")).toBe("true");
  act(() => host.click());
  expect(noted.selected).toEqual([
    { memory_space: "5", instant: null, from_event: null, to_event: null },
  ]);
});

test("programs say their peaks, whether they ran, and on which host they are", () => {
  show();
  const opening = Object.assign(new Event("beforetoggle"), { newState: "open" });
  act(() => void document.querySelector(".heap-pickers .popover")?.dispatchEvent(opening));
  const options = buttons("[role=option]");
  expect(options.map((option) => option.textContent)).toEqual([
    "jit_step(17)peak 7.00 KiB · ran",
    "jit_step(1)peak 100 B · did not run · h1",
    "jit_bare(9)the compiler wrote no buffer assignment for the program · unknown whether it ran",
  ]);
  act(() => options[1].click());
  expect(noted.selected[0]).toMatchObject({
    program_id: "1",
    program_host: "h1",
    memory_space: null,
  });
});

test("why there is nothing is said, with a program that has something", () => {
  const { programs, hosts } = sampleHeap();
  show({ programs, hosts, chosen: -1, reason: "program '5' is not in the trace", spaces: [] });
  expect(text(".heap-nothing")).toBe("Program '5' is not in the trace.Show jit_step(17)");
  act(() => buttons(".heap-nothing .link")[0].click());
  expect(noted.selected[0]).toMatchObject({ program_id: "17" });
});

test("savings are upper bounds", () => {
  show();
  expect(text(".heap-savings .finding-value")).toBe("≤ 1.00 KiB · 14.3 %");
});

test("another instant is named, and leads back", () => {
  show({ live: sampleLive({ event: 2, is_peak: false, in_use_bytes: 6144 }) });
  expect(text(".heap-instant-text")).toBe("6.00 KiB in use after event 2 (dot) Back to the peak");
  act(() => buttons(".heap-instant-text .link")[0].click());
  expect(noted.selected).toEqual([{ instant: null }]);
});

test("names are text, whatever is in them", () => {
  const texts = [...(sampleHeap().texts as string[])];
  texts[3] = "<img src=x onerror=alert(1)>";
  show({ texts });
  expect(document.querySelector("img")).toBeNull();
  expect(text(".heap-sentence")).toContain("<img src=x onerror=alert(1)>");
});
