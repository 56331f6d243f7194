/** Which hosts the page opens where more are chosen than fit on it. */
import { formatCount } from "../../../base/format";

/** Each costs the server a timeline, and the page at least one strip. */
export const MOST_HOSTS = 16;

/** The first hosts, and `named`, which the address refers to; in their order. */
export function firstHosts(hosts: readonly string[], named = ""): readonly string[] {
  if (hosts.length <= MOST_HOSTS) return hosts;
  const first = hosts.slice(0, MOST_HOSTS);
  return first.includes(named) || !hosts.includes(named)
    ? first
    : [...first.slice(0, MOST_HOSTS - 1), named];
}

/** What the status line says of the hosts that are shown, of those that are chosen. */
export function describeHosts(shown: number, chosen: number): string {
  if (chosen > shown)
    return `the files of ${formatCount(shown)} of ${formatCount(chosen)} hosts: choose others above`;
  return shown > 1 ? `the files of ${shown} hosts` : "the file";
}
