/** The whole page in a test, without its canvas: what it shows, and what it asks the shell for. */
import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, vi } from "vitest";
import type { View } from "../../base/url_state";
import { press as pressKey, texts } from "../../widgets/dom.test_helper";
import { noted, pageProps } from "../page.test_helper";
import type { TimelineModel } from "./model/model";
import { TracePage } from "./view";

const canvas = vi.hoisted((): { model: TimelineModel | null } => ({ model: null }));
vi.mock("./pointer/timeline_canvas", () => ({
  TimelineCanvas: ({ model }: { model: TimelineModel }) => {
    canvas.model = model;
    model.height.value = 800;
    return <div class="canvas" />;
  },
}));

/** What the page has asked for since the test began. */
export const said = {
  selected: {} as Record<string, string | null>,
  warned: [] as readonly { readonly message: string }[],
};

/**
 * Each test of the file that calls this begins anew, and its timers wait for the test alone. Files
 * may share this module: hooks beside it would be those of the first file.
 */
export function eachAnew(): void {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
    Object.assign(said, { selected: {}, warned: [] });
    noted.opened.length = 0;
    localStorage.clear();
  });

  afterEach(() => {
    act(() => render(null, document.body));
    vi.unstubAllGlobals();
    vi.useRealTimers();
  });
}

export const model = () => canvas.model!;

export async function show(view: View = {}, hosts: readonly string[] = ["h0"]) {
  act(() => {
    render(
      <TracePage
        {...pageProps()}
        payload={null}
        view={view}
        select={(patch) => {
          said.selected = { ...said.selected, ...patch };
        }}
        hosts={hosts}
        warn={(warnings) => {
          said.warned = warnings;
        }}
      />,
      document.body,
    );
  });
  await flush();
}

/** Lets answers come in and what they change be drawn, until nothing follows. */
async function flush() {
  for (let index = 0; index < 3; index++) {
    await act(async () => {
      for (let turn = 0; turn < 12; turn++) await vi.advanceTimersByTimeAsync(0);
    });
  }
}

export const labels = () => texts(".trace-label-name");
export const query = <E extends HTMLElement>(selector: string) =>
  document.querySelector<E>(selector)!;

export async function click(element: HTMLElement | undefined | null) {
  act(() => element?.click());
  await flush();
}

export async function press(target: HTMLElement, key: string, more?: KeyboardEventInit) {
  pressKey(target, key, more);
  await flush();
}

export async function type(field: HTMLInputElement, value: string) {
  act(() => {
    field.value = value;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });
  await wait(260);
}

/** For what waits until nothing is typed or moved any more. */
export async function wait(ms: number) {
  await act(async () => {
    await vi.advanceTimersByTimeAsync(ms);
  });
  await flush();
}

export const button = (name: string) =>
  [...document.querySelectorAll<HTMLElement>("button")].find(
    (button) => button.textContent === name || button.getAttribute("aria-label") === name,
  );
