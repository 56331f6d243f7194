/** The theme: the user's choice, else TensorBoard's, else the system's. */
import { signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";

const STORED = "tbprof.theme";
const ORDER: readonly Theme[] = ["system", "light", "dark"];

export const theme = signal<Theme>("system");

/** Applies the theme and follows its changes. Returns a function that stops this. */
export function followTheme(): () => void {
  theme.value = storedTheme();
  const body = parentBody();
  const apply = () => {
    const chosen = theme.value === "system" && body ? hostTheme(body) : theme.value;
    // Without the attribute, `color-scheme: light dark` follows the browser's preference.
    if (chosen === "system") document.documentElement.removeAttribute("data-theme");
    else document.documentElement.dataset.theme = chosen;
  };
  const stop = theme.subscribe(apply);
  if (!body) return stop;
  const observer = new MutationObserver(apply);
  observer.observe(body, { attributes: true, attributeFilter: ["class"] });
  return () => {
    observer.disconnect();
    stop();
  };
}

export function nextTheme(): void {
  theme.value = ORDER[(ORDER.indexOf(theme.value) + 1) % ORDER.length];
  try {
    localStorage.setItem(STORED, theme.value);
  } catch {
    // Frames may have no storage; the choice then lasts until the page is closed.
  }
}

function hostTheme(body: HTMLElement): Theme {
  return body.classList.contains("dark-mode") ? "dark" : "light";
}

function storedTheme(): Theme {
  try {
    const stored = localStorage.getItem(STORED);
    return ORDER.find((candidate) => candidate === stored) ?? "system";
  } catch {
    return "system";
  }
}

/** The body of the TensorBoard page that contains us; null if there is none or it is inaccessible. */
function parentBody(): HTMLElement | null {
  try {
    return window.parent === window ? null : window.parent.document.body;
  } catch {
    return null;
  }
}

/** Calls `react` whenever colors may have changed. Returns a function that stops this. */
export function watchColors(react: () => void): () => void {
  const observer = new MutationObserver(react);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  const system = matchMedia("(prefers-color-scheme: dark)");
  system.addEventListener("change", react);
  return () => {
    observer.disconnect();
    system.removeEventListener("change", react);
  };
}

/** The value of a CSS color, such as a custom property, in the current theme. */
export function resolveColor(value: string): string {
  const probe = document.createElement("span");
  probe.style.color = value;
  document.body.append(probe);
  const resolved = getComputedStyle(probe).color;
  probe.remove();
  return resolved;
}
