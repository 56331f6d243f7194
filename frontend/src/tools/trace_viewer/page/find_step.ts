/** Finds the step that another page or an address refers to. */
import type { HostTimeline } from "../model/types";
import type { EventAt } from "../protocol/answers";
import { fetchSearch } from "../protocol/api";
import { PARTS, type Part } from "../protocol/payload";
import { indexOf, partOf } from "./page";

interface FoundStep {
  readonly host: HostTimeline;
  readonly part: Part;
  readonly event: EventAt;
}

const LISTED = 1000;

/** The first event of a step track whose name is `label` or contains that number. */
export async function findStep(
  run: string,
  hosts: readonly HostTimeline[],
  label: string,
  signal: AbortSignal,
): Promise<FoundStep | null> {
  const number = /^\d{1,12}$/.test(label);
  const searches = [
    { text: `whole:${label}`, isRegex: false, isCase: true },
    ...(number ? [{ text: `(^|\\D)0*${label}(\\D|$)`, isRegex: true, isCase: true }] : []),
  ];
  for (const search of searches) {
    for (const host of hosts) {
      for (const part of PARTS) {
        const of = partOf(run, host, part);
        const tracks = indexOf(host, part)?.tracks ?? [];
        if (!of || !tracks.some((track) => track.kind === "steps")) continue;
        const { hits } = await fetchSearch(of, search, { limit: LISTED }, signal);
        const event = hits.find((hit) => tracks[hit.track]?.kind === "steps");
        if (event) return { host, part, event };
      }
    }
  }
  return null;
}
