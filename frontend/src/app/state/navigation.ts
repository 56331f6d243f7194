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
  let timer: ReturnType<typeof setTimeout> | undefined;

  const write = (isStep: boolean) => {
    clearTimeout(timer);
    const text = formatPlace(place.peek());
    if (text !== location.hash.replace(/^#/, "")) {
      // A step of a frame is one of the page around it, too: Back goes from page to page there.
      if (isStep) history.pushState(null, "", `#${text}`);
      else history.replaceState(null, "", `#${text}`);
    }
    if (around) mirror(around, plugin, text);
  };
  const go: Navigation["go"] = (patch, isQuiet = false) => {
    if (!isQuiet) write(false);
    place.value = { ...place.peek(), ...patch };
    if (isQuiet) {
      clearTimeout(timer);
      timer = setTimeout(() => write(false), QUIET_MS);
    } else write(true);
  };
  const onPop = () => {
    clearTimeout(timer);
    place.value = parsePlace(location.hash);
    if (around) mirror(around, plugin, formatPlace(place.peek()));
  };
  addEventListener("popstate", onPop);
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
    },
  };
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
