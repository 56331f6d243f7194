/** Where a person is: a signal, kept equal to the address of the page and of TensorBoard around it. */
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
  /** A step that Back returns from, unless `isQuiet`. */
  readonly go: (patch: Partial<Place>, isQuiet?: boolean) => void;
  /** Changes what the page keeps; not a step. */
  readonly select: (patch: Readonly<Record<string, string | null>>) => void;
  /** Another tool, with what its page kept when it was left, and `patch` on top. */
  readonly openTool: (tool: string, patch?: Readonly<Record<string, string | null>>) => void;
  /** The address of `patch` from here, for links. */
  readonly addressOf: (patch: Partial<Place>) => string;
  readonly dispose: () => void;
}

/** Browsers refuse addresses that change with every letter typed. */
const QUIET_MS = 250;

export function startNavigation(): Navigation {
  const plugin = pluginName(location.pathname);
  const around = parentWindow();
  const own = location.hash.replace(/^#/, "");
  const start = own !== "" || !around ? own : readMirror(around.location.hash, plugin);
  const place = signal<Place>(start === "" ? NOWHERE : parsePlace(start));
  const kept = new Map<string, View>();
  /** Runs while the place changes. */
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isWritten = true;
  let step = stepHere(0);
  /** By step the places that Back or Forward left before they were written. */
  const late = new Map<number, Place>();

  const write = (isStep: boolean) => {
    isWritten = true;
    const text = formatPlace(place.peek());
    if (text !== location.hash.replace(/^#/, "")) {
      // A step of a frame is one of the page around it, too: Back goes from page to page there.
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
    // The first change at once, since a reload takes the address as it is; then the last one.
    if (timer === undefined) write(false);
    else isWritten = false;
    clearTimeout(timer);
    timer = setTimeout(() => {
      timer = undefined;
      flush();
    }, QUIET_MS);
  };
  const onPop = () => {
    // The address is that of the step that was gone to.
    if (!isWritten) late.set(step, place.peek());
    // What is changed next is the first change of that step.
    clearTimeout(timer);
    timer = undefined;
    step = stepHere(step + 1);
    place.value = late.get(step) ?? parsePlace(location.hash);
    late.delete(step);
    write(false);
  };
  addEventListener("popstate", onPop);
  // Once the page is hidden, an entry of the history may no longer change.
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

/** The number of the entry of the history; `next` for one that has none, as after typing an address. */
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

/** TensorBoard's window around us, null where we stand alone or it is out of reach. */
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
    // TensorBoard keeps its own state in the history entry: it stays.
    if (hash !== around.location.hash) around.history.replaceState(around.history.state, "", hash);
  } catch {
    // The address bar then shows TensorBoard's own address; the frame's still holds ours.
  }
}
