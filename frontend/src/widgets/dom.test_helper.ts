/** What tests read from the document, and how they press keys in it. */
import { act } from "preact/test-utils";

export function text(selector: string): string {
  return document.querySelector(selector)?.textContent ?? "";
}

export function texts(selector: string): string[] {
  return [...document.querySelectorAll(selector)].map(({ textContent }) => textContent ?? "");
}

/** The first element of the selector whose whole text it is. */
export function named(selector: string, name: string): HTMLElement | undefined {
  return [...document.querySelectorAll<HTMLElement>(selector)].find(
    ({ textContent }) => textContent === name,
  );
}

export function press(
  target: EventTarget | null | undefined,
  key: string,
  more: KeyboardEventInit = {},
): void {
  const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more });
  act(() => void target?.dispatchEvent(event));
}
