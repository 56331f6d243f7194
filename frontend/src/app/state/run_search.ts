/** What of a run has a name, for the command palette on any page: ops, kernels, steps, events. */
import { fetchData, getJson } from "../../api/client";
import { fields, records, text } from "../../api/json";
import { patchView, type View } from "../../base/url_state";
import type { Find } from "../../tools/tool";
import { TOOLS } from "../../tools/tools";

export interface RunPlace {
  readonly run: string;
  /** The pages that have data and are not shown themselves. */
  readonly tools: readonly string[];
  /** Those that can be read. */
  readonly hosts: readonly string[];
  readonly open: (tool: string, view: View) => void;
}

export interface Named {
  readonly kind: string;
  readonly name: string;
  readonly run: () => void;
}

/** Of each kind. */
export const MOST = 20;
const WITH_NAMES = ["framework_op_stats", "kernel_stats", "overview_page"];
const TRACE = "trace_viewer";
/** Searched for events. */
const HOSTS = 4;
/** Hits that are asked for, of which many may have one name. */
const HITS = 200;

/** Asks for the names of the pages once, and for events each time. */
export function createRunSearch(place: RunPlace) {
  const pages = new Map<string, Promise<readonly Find[]>>();
  const findsOf = (tool: string) => {
    const known = pages.get(tool) ?? pageFinds(place, tool).catch(() => []);
    pages.set(tool, known);
    return known;
  };
  return async (query: string, signal: AbortSignal): Promise<readonly Named[]> => {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0) return [];
    const [events, ...finds] = await Promise.all([
      place.tools.includes(TRACE) ? findEvents(place, query.trim(), signal) : [],
      ...WITH_NAMES.filter((tool) => place.tools.includes(tool)).map(findsOf),
    ]);
    const named = finds.flat().flatMap(({ kind, names, choose }) =>
      names
        .filter((name) => words.every((word) => name.toLowerCase().includes(word)))
        .slice(0, MOST)
        .map((name) => ({ kind, name, run: () => choose(name) })),
    );
    return [...named, ...events];
  };
}

async function pageFinds({ run, hosts, open }: RunPlace, tool: string): Promise<readonly Find[]> {
  const { load, defaults = {} } = TOOLS[tool];
  const request = { run, tool, hosts: hosts.length > 1 ? hosts : null, options: defaults };
  const signal = new AbortController().signal;
  const [module, json] = await Promise.all([load(), fetchData(request, signal)]);
  return module.finds(module.parse(json), (patch) => open(tool, patchView({}, patch)));
}

/** The names of events that hold the text, each once; the trace viewer goes to the first of them. */
async function findEvents(place: RunPlace, query: string, signal: AbortSignal) {
  const answers = await Promise.all(
    place.hosts.slice(0, HOSTS).map((host) => findOnHost(place.run, host, query, signal)),
  );
  return [...new Set(answers.flat())].slice(0, MOST).map((name) => ({
    kind: "Event",
    name,
    run: () => place.open(TRACE, { q: `whole:${name}` }),
  }));
}

async function findOnHost(run: string, host: string, query: string, signal: AbortSignal) {
  try {
    const of = { run, host, part: "events" };
    const { version } = fields(await getJson("timeline", Object.entries(of), signal));
    const search = { ...of, version: text(version), q: query, limit: String(HITS) };
    const answer = fields(await getJson("timeline_search", Object.entries(search), signal));
    return records(answer.hits).map((hit) => text(hit.name));
  } catch {
    return []; // the other kinds are found without
  }
}
