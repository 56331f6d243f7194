/** Searches a run by name for the command palette: ops, kernels, steps and events. */
import { fetchData, getJson, type QueryParameters } from "../../api/client";
import { count, fields, records, text } from "../../api/json";
import { patchView, type View } from "../../base/url_state";
import type { Find } from "../../tools/tool";
import { TOOLS } from "../../tools/tools";

interface RunPlace {
  readonly run: string;
  /** The pages that have data, except the open one. */
  readonly tools: readonly string[];
  /** The readable hosts. */
  readonly hosts: readonly string[];
  readonly open: (tool: string, view: View) => void;
}

export interface Command {
  readonly kind: string;
  readonly name: string;
  readonly run: () => void;
}

/** Reports names as they are found, each once. */
export type RunSearch = (
  query: string,
  signal: AbortSignal,
  report: (commands: readonly Command[]) => void,
) => Promise<void>;

/** Results per kind. */
export const MOST = 20;
/** With more hosts none is named, which means all: a URL has no room for the hosts of a pod. */
const MOST_NAMED = 256;
const WITH_NAMES = ["framework_op_stats", "kernel_stats", "overview_page"];
const TRACE = "trace_viewer";

/** A search that loads the names of each page once, and asks for events each time. */
export function createRunSearch(place: RunPlace): RunSearch {
  const pages = new Map<string, Promise<readonly Find[]>>();
  const findsOf = (tool: string) => {
    const known = pages.get(tool) ?? pageFinds(place, tool).catch(() => []);
    pages.set(tool, known);
    return known;
  };
  return async (query, signal, report) => {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0) return;
    const findNames = async (tool: string) => {
      const finds = await findsOf(tool);
      if (signal.aborted) return;
      report(
        finds.flatMap(({ kind, names, choose }) =>
          names
            .filter((name) => words.every((word) => name.toLowerCase().includes(word)))
            .slice(0, MOST)
            .map((name) => ({ kind, name, run: () => choose(name) })),
        ),
      );
    };
    await Promise.all([
      ...WITH_NAMES.filter((tool) => place.tools.includes(tool)).map(findNames),
      // If events cannot be searched, the other kinds are still found.
      place.tools.includes(TRACE) ? findEvents(place, query, signal, report).catch(() => {}) : null,
    ]);
  };
}

async function pageFinds({ run, hosts, open }: RunPlace, tool: string): Promise<readonly Find[]> {
  const { load, defaults = {} } = TOOLS[tool];
  const named = hosts.length > 1 && hosts.length <= MOST_NAMED ? hosts : null;
  const request = { run, tool, hosts: named, options: defaults };
  const signal = new AbortController().signal;
  const [module, json] = await Promise.all([load(), fetchData(request, signal)]);
  return module.finds(module.parse(json), (patch) => open(tool, patchView({}, patch)));
}

/** Event names of all hosts; choosing one opens the trace viewer at its first event. */
async function findEvents(
  { run, hosts, open }: RunPlace,
  query: string,
  signal: AbortSignal,
  report: (commands: readonly Command[]) => void,
): Promise<void> {
  const known = new Set<string>();
  const parameters: QueryParameters = [
    ["run", run],
    ["q", query],
    ...(hosts.length > MOST_NAMED ? [] : hosts.map((host) => ["hosts", host] as const)),
  ];
  // The server reads large hosts one at a time, one per request, until enough names are found.
  for (let unread = Number.POSITIVE_INFINITY; ; ) {
    const answer = fields(await getJson("event_names", parameters, signal));
    const names = records(answer.names)
      .map((event) => text(event.name))
      .filter((name) => !known.has(name))
      .slice(0, MOST - known.size);
    for (const name of names) known.add(name);
    report(
      names.map((name) => ({
        kind: "Event",
        name,
        run: () => open(TRACE, { q: `whole:${name}` }),
      })),
    );
    const left = count(answer.unread);
    if (left === 0 || left >= unread || known.size >= MOST) return;
    unread = left;
  }
}
