/** Light or dark: TensorBoard's choice, else the system's, else what the person chose with `t`. */
import { signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";

const STORED = "tbprof.theme";
const ORDER: readonly Theme[] = ["system", "light", "dark"];

export const theme = signal<Theme>("system");

/** Applies the theme and keeps it applied. Returns what ends that. */
export function followTheme(): () => void {
  theme.value = storedTheme();
  const body = parentBody();
  const apply = () => {
    const chosen = theme.value === "system" && body ? hostTheme(body) : theme.value;
    // "system" leaves `color-scheme: light dark`, which is the browser's own preference.
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
    // Storage may be forbidden in a frame; the choice then lasts as long as the page.
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

/** The body of TensorBoard's page around us, null where we stand alone or it is out of reach. */
function parentBody(): HTMLElement | null {
  try {
    return window.parent === window ? null : window.parent.document.body;
  } catch {
    return null;
  }
}

/** Calls `react` whenever colours may have changed. Returns what ends that. */
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

/** What a custom property stands for under the theme in force. */
export function resolveColor(value: string): string {
  const probe = document.createElement("span");
  probe.style.color = value;
  document.body.append(probe);
  const resolved = getComputedStyle(probe).color;
  probe.remove();
  return resolved;
}
