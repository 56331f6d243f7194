/** What tests of pages render them with, and how they press keys on them. */
import { act } from "preact/test-utils";
import type { Ask, PageProps } from "./tool";

/** What a page selected, and what it asked the server. */
export interface Noted {
  readonly selected: Record<string, string | null>[];
  readonly asked: Record<string, string>[];
}

/** Pages called by the names of their tools. */
export const NAMES = { title: (tool: string) => tool, short: (tool: string) => tool };

/**
 * All that a page is given besides its payload and address. The server says `answer`, or what that
 * makes of the parameters.
 */
export function pageProps(
  { selected, asked }: Noted,
  answer: unknown = null,
  ask?: Ask,
): Omit<PageProps<never>, "payload" | "view"> {
  return {
    title: "Page",
    select: (patch) => selected.push(patch),
    links: {
      ...NAMES,
      reason: () => null,
      address: (tool, view) => `#${tool}?${view.q}`,
      open: () => {},
    },
    ask:
      ask ??
      (async (parameters) => {
        asked.push(parameters);
        return typeof answer === "function" ? answer(parameters) : answer;
      }),
    fileName: "r",
    run: "r",
    hosts: ["h0"],
    warn: () => {},
  };
}

export function text(selector: string): string {
  return document.querySelector(selector)?.textContent ?? "";
}

export function press(target: EventTarget | null | undefined, key: string): void {
  act(
    () =>
      void target?.dispatchEvent(
        new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }),
      ),
  );
}
