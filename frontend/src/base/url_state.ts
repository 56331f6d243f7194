/** The shareable state of the page, stored in the address after "#". */

/** What is open. `view` holds the state of the tool's page: filters, sort order, toggles. */
export interface Place {
  readonly run: string;
  readonly tool: string;
  /** null: every host. */
  readonly hosts: readonly string[] | null;
  readonly view: View;
}

export type View = Readonly<Record<string, string>>;

export const NOWHERE: Place = { run: "", tool: "", hosts: null, view: {} };

const MAX_LENGTH = 32_768;
const MAX_VALUE = 4096;

export function parsePlace(hash: string): Place {
  const text = hash.replace(/^#/, "");
  if (text === "" || text.length > MAX_LENGTH) return NOWHERE;
  const parameters = new URLSearchParams(text);
  const hosts = parameters.getAll("hosts");
  const view: Record<string, string> = {};
  for (const [name, value] of parameters) {
    if (name !== "run" && name !== "tool" && name !== "hosts") view[name] = value;
  }
  return {
    run: parameters.get("run") ?? "",
    tool: parameters.get("tool") ?? "",
    hosts: hosts.length > 0 ? [...new Set(hosts)] : null,
    view,
  };
}

/**
 * The canonical text of a place: equal places have equal texts. Values that are too long for an
 * address, such as a filter by a very long name, are left out.
 */
export function formatPlace(place: Place): string {
  const parameters = new URLSearchParams();
  if (place.run !== "") parameters.set("run", place.run);
  if (place.tool !== "") parameters.set("tool", place.tool);
  for (const host of place.hosts ?? []) parameters.append("hosts", host);
  for (const name of Object.keys(place.view).sort()) {
    if (place.view[name].length <= MAX_VALUE) parameters.set(name, place.view[name]);
  }
  return parameters.toString();
}

/** `view` with the entries of `patch` set, or removed if they are null. */
export function patchView(view: View, patch: Readonly<Record<string, string | null>>): View {
  const result: Record<string, string> = { ...view };
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = value;
  }
  return result;
}

/** Our part of TensorBoard's address hash, "p.<plugin>.s=<text>"; "" if it is absent. */
export function readMirror(parentHash: string, plugin: string): string {
  const prefix = mirrorPrefix(plugin);
  const part = parentHash
    .replace(/^#/, "")
    .split("&")
    .find((candidate) => candidate.startsWith(prefix));
  if (part === undefined) return "";
  try {
    return decodeURIComponent(part.slice(prefix.length));
  } catch {
    return "";
  }
}

/** `parentHash` with our part replaced and all other parts kept. */
export function writeMirror(parentHash: string, plugin: string, text: string): string {
  const prefix = mirrorPrefix(plugin);
  const others = parentHash
    .replace(/^#/, "")
    .split("&")
    .filter((part) => part !== "" && !part.startsWith(prefix));
  const ours = text === "" ? [] : [prefix + encodeURIComponent(text)];
  return `#${[...others, ...ours].join("&")}`;
}

function mirrorPrefix(plugin: string): string {
  return `p.${plugin}.s=`;
}
