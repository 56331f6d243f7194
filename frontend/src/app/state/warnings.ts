/** The warnings of a page for the banner: about the run's hosts, and about the payload. */
import type { Session, Warning } from "../../api/types";
import { formatCount, plural } from "../../base/format";

interface PageWarnings {
  /** For the one-line summary, without repetitions. */
  readonly summary: readonly string[];
  readonly details: readonly Warning[];
}

export function pageWarnings(session: Session | null, payload: readonly Warning[]): PageWarnings {
  const failed = session?.hosts.filter((host) => host.error !== null) ?? [];
  const named = new Set(failed.map((host) => host.name));
  const count = `${formatCount(failed.length)} of ${plural(session?.hosts.length ?? 0, "host")}`;
  const ofHosts = failed.map((host) => ({
    code: host.error!.code,
    message: host.error!.message,
    host: host.name,
    hint: host.error!.hint,
  }));
  const unreadable = new Set(failed.map((host) => host.error!.code));
  const others = payload.filter(
    (warning) => !(named.has(warning.host) && unreadable.has(warning.code)),
  );
  const ofFailed = failed.length === 0 ? [] : [`${count} unreadable`];
  return {
    summary: [...new Set([...ofFailed, ...others.map((warning) => warning.message)])],
    details: [...ofHosts, ...others],
  };
}
