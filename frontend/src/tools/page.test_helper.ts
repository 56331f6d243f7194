/** What tests of pages render them with. */
import { render } from "preact";
import { act } from "preact/test-utils";
import { beforeEach } from "vitest";
import type { View } from "../base/url_state";
import type { Ask, PageProps } from "./tool";

/** What the page of a test selected, what it asked the server, and which pages it opened. */
export const noted = {
  selected: [] as Record<string, string | null>[],
  asked: [] as Record<string, string>[],
  opened: [] as [tool: string, view: View][],
};

/** Each test of the file that calls this begins with an empty document, and nothing is noted. */
export function eachAnew(): void {
  beforeEach(() => {
    act(() => render(null, document.body));
    for (const list of Object.values(noted)) list.length = 0;
  });
}

/** Pages called by the names of their tools. */
export const NAMES = { title: (tool: string) => tool, short: (tool: string) => tool };

/**
 * All that a page is given besides its payload and address. The server says `answer`, or what that
 * makes of the parameters. Other pages that are not among `pages` cannot be opened: "none".
 */
export function pageProps(
  answer: unknown = null,
  ask?: Ask,
  pages?: readonly string[],
): Omit<PageProps<never>, "payload" | "view"> {
  return {
    title: "Page",
    select: (patch) => noted.selected.push(patch),
    links: {
      ...NAMES,
      reason: (tool) => (pages?.includes(tool) === false ? "none" : null),
      address: (tool, view) => `#${tool}?${view.q}`,
      open: (tool, view) => noted.opened.push([tool, view]),
    },
    ask:
      ask ??
      (async (parameters) => {
        noted.asked.push(parameters);
        return typeof answer === "function" ? answer(parameters) : answer;
      }),
    fileName: "r",
    run: "r",
    hosts: ["h0"],
    warn: () => {},
  };
}
