/** The open place as a signal, kept in sync with the address of the page and of TensorBoard. */
import { type ReadonlySignal, signal } from "@preact/signals";
import {
  formatPlace,
  NOWHERE,
  type Place,
  parsePlace,
  patchView,
  readMirror,
  type View,
  writeMirror,
} from "../../base/url_state";

export interface Navigation {
  readonly place: ReadonlySignal<Place>;
  /** Goes to another place and adds a history entry, unless `isQuiet`. */
  readonly go: (patch: Partial<Place>, isQuiet?: boolean) => void;
  /** Changes the view of the page without adding a history entry. */
  readonly select: (patch: Readonly<Record<string, string | null>>) => void;
  /** Opens another tool with the view its page had when it was left, changed by `patch`. */
  readonly openTool: (tool: string, patch?: Readonly<Record<string, string | null>>) => void;
  /** The address of the current place changed by `patch`, for links. */
  readonly addressOf: (patch: Partial<Place>) => string;
  readonly dispose: () => void;
}

/** Browsers throttle pages that change the address with every keystroke. */
const QUIET_MS = 250;

export function startNavigation(): Navigation {
  const plugin = pluginName(location.pathname);
  const around = parentWindow();
  const own = location.hash.replace(/^#/, "");
  const start = own !== "" || !around ? own : readMirror(around.location.hash, plugin);
  const place = signal<Place>(start === "" ? NOWHERE : parsePlace(start));
  const kept = new Map<string, View>();
  /** Runs while changes are being collected. */
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isWritten = true;
  let step = stepHere(0);
  /** Places, by history step, that Back or Forward left before they were written. */
  const late = new Map<number, Place>();

  const write = (isStep: boolean) => {
    isWritten = true;
    const text = formatPlace(place.peek());
    if (text !== location.hash.replace(/^#/, "")) {
      // Entries of a frame are also entries of the window around it, so Back works there, too.
      if (isStep) history.pushState({ step: ++step }, "", `#${text}`);
      else history.replaceState({ step }, "", `#${text}`);
      if (isStep) for (const gone of late.keys()) if (gone >= step) late.delete(gone);
    }
    if (around) mirror(around, plugin, text);
  };
  const flush = () => {
    if (!isWritten) write(false);
  };
  const go: Navigation["go"] = (patch, isQuiet = false) => {
    if (!isQuiet) write(false);
    place.value = { ...place.peek(), ...patch };
    if (!isQuiet) return write(true);
    // The first change is written at once, in case the page is reloaded; then only the last one.
    if (timer === undefined) write(false);
    else isWritten = false;
    clearTimeout(timer);
    timer = setTimeout(() => {
      timer = undefined;
      flush();
    }, QUIET_MS);
  };
  const onPop = () => {
    // The address is already that of the new step.
    if (!isWritten) late.set(step, place.peek());
    // The next change is the first one of that step.
    clearTimeout(timer);
    timer = undefined;
    step = stepHere(step + 1);
    place.value = late.get(step) ?? parsePlace(location.hash);
    late.delete(step);
    write(false);
  };
  addEventListener("popstate", onPop);
  // History entries can no longer change once the page is hidden.
  addEventListener("beforeunload", flush);
  addEventListener("pagehide", flush);
  if (around && own === "" && start !== "") write(false);

  return {
    place,
    go,
    select: (patch) => go({ view: patchView(place.peek().view, patch) }, true),
    openTool: (tool, patch = {}) => {
      const { tool: left, view } = place.peek();
      if (left === tool) return;
      kept.set(left, view);
      go({ tool, view: patchView(kept.get(tool) ?? {}, patch) });
    },
    addressOf: (patch) => `#${formatPlace({ ...place.value, ...patch })}`,
    dispose: () => {
      clearTimeout(timer);
      removeEventListener("popstate", onPop);
      removeEventListener("beforeunload", flush);
      removeEventListener("pagehide", flush);
    },
  };
}

/** The number of this history entry; an entry without one, as after typing an address, gets `next`. */
function stepHere(next: number): number {
  const { step } = (history.state ?? {}) as { step?: unknown };
  if (typeof step === "number") return step;
  history.replaceState({ step: next }, "");
  return next;
}

/** "profile" of ".../data/plugin/profile/index.html". */
function pluginName(path: string): string {
  return /\/plugin\/([^/]+)\//.exec(path)?.[1] ?? "profile";
}

/** The TensorBoard window that contains this frame; null if there is none or it is inaccessible. */
function parentWindow(): Window | null {
  try {
    return window.parent !== window && window.parent.location.hash !== undefined
      ? window.parent
      : null;
  } catch {
    return null;
  }
}

function mirror(around: Window, plugin: string, text: string): void {
  try {
    const hash = writeMirror(around.location.hash, plugin, text);
    // TensorBoard keeps state of its own in the history entry, which must be preserved.
    if (hash !== around.location.hash) around.history.replaceState(around.history.state, "", hash);
  } catch {
    // Without access, the address bar shows TensorBoard's address only; the frame's still has ours.
  }
}
