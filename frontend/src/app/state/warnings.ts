/** What the banner says about a page: of the run's hosts, and of the payload. */
import type { Session, Warning } from "../../api/types";
import { formatCount } from "../../base/format";

interface PageWarnings {
  /** For the line, each said once. */
  readonly summary: readonly string[];
  readonly details: readonly Warning[];
}

export function pageWarnings(session: Session | null, payload: readonly Warning[]): PageWarnings {
  const failed = session?.hosts.filter((host) => host.error !== null) ?? [];
  const named = new Set(failed.map((host) => host.name));
  const count = `${formatCount(failed.length)} of ${formatCount(session?.hosts.length ?? 0)}`;
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
  const ofFailed = failed.length === 0 ? [] : [`${count} hosts unreadable`];
  return {
    summary: [...new Set([...ofFailed, ...others.map((warning) => warning.message)])],
    details: [...ofHosts, ...others],
  };
}
