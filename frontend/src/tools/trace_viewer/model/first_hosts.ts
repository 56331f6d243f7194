/** The hosts that the page opens if more are chosen than it can show. */
import { formatCount } from "../../../base/format";

/** Each host costs the server a timeline, and the page at least one strip. */
export const MOST_HOSTS = 16;

/** The first hosts and `named`, to which the address refers, in order. */
export function firstHosts(hosts: readonly string[], named = ""): readonly string[] {
  if (hosts.length <= MOST_HOSTS) return hosts;
  const first = hosts.slice(0, MOST_HOSTS);
  return first.includes(named) || !hosts.includes(named)
    ? first
    : [...first.slice(0, MOST_HOSTS - 1), named];
}

/** The text of the status line about the shown and the chosen hosts. */
export function describeHosts(shown: number, chosen: number): string {
  if (chosen > shown)
    return `the files of ${formatCount(shown)} of ${formatCount(chosen)} hosts: choose others above`;
  return shown > 1 ? `the files of ${shown} hosts` : "the file";
}
