/** A server of timelines for tests: routes as functions of their parameters. */
import { vi } from "vitest";
import { sampleDerivedJson, sampleTimelineJson } from "./sample.test_helper";

type RouteParameters = Readonly<Record<string, string>>;
type Route = (parameters: RouteParameters) => unknown;

export interface FakeServer {
  /** Every request so far: route and parameters. */
  readonly asked: (readonly [route: string, parameters: RouteParameters])[];
  /** Answers of later requests. */
  readonly routes: Record<string, Route>;
}

/** An error of the server's as a route throws it. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

export const PLACE = {
  id: 7,
  name: "matmul",
  track: 0,
  row: 0,
  start_ps: 5e9,
  duration_ps: 2e9,
};

/** The answer to a search: all that it finds. */
export const found = (hits: readonly unknown[], tracks = {}) => ({
  count: hits.length,
  types: 1,
  hits,
  cursor: "",
  tracks,
});

export function fakeServer(routes: Record<string, Route> = {}): FakeServer {
  const server: FakeServer = {
    asked: [],
    routes: {
      timeline: ({ host, part }) =>
        part === "derived" ? sampleDerivedJson({ host }) : sampleTimelineJson({ host }),
      progress: () => ({ state: "idle", text: "", done: 0, total: 0 }),
      timeline_busy: ({ sections, buckets }) => ({
        sections: Object.fromEntries(
          sections.split(",").map((id) => [id, Array(Number(buckets)).fill(0.5)]),
        ),
      }),
      timeline_in_use: () => ({ tracks: [0, 1, 2, 3], counters: [0, 1] }),
      timeline_event: ({ id }) => ({ ...PLACE, id: Number(id) }),
      timeline_flows: () => ({ flows: [], total: 0 }),
      timeline_search: () => ({ count: 0, types: 0, hits: [], cursor: "", tracks: {} }),
      ...routes,
    },
  };
  vi.stubGlobal(
    "fetch",
    vi.fn(async (address: string, { signal }: { signal?: AbortSignal } = {}) => {
      const url = new URL(address, "http://server/");
      const route = url.pathname.slice(1);
      const parameters = Object.fromEntries(url.searchParams);
      server.asked.push([route, parameters]);
      await Promise.resolve();
      if (signal?.aborted) throw new DOMException("aborted", "AbortError");
      try {
        const answer = server.routes[route]?.(parameters);
        return new Response(JSON.stringify(answer ?? null), { status: 200 });
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        const { status, code, message } = error;
        return new Response(JSON.stringify({ error: { code, message, hint: "" } }), { status });
      }
    }),
  );
  return server;
}

/** Lets all answers come in. */
export async function settle(): Promise<void> {
  for (let index = 0; index < 12; index++) await new Promise((done) => setTimeout(done, 0));
}
