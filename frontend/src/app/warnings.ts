/** What the banner says about a page: of the run's hosts, and of the payload. */
import type { Session, Warning } from "../api/types";
import { formatCount } from "../base/format";

export function pageWarnings(session: Session | null, payload: readonly Warning[]): Warning[] {
  const failed = session?.hosts.filter((host) => host.error !== null) ?? [];
  const named = new Set(failed.map((host) => host.name));
  const count = `${formatCount(failed.length)} of ${formatCount(session?.hosts.length ?? 0)}`;
  const ofHosts = failed.map((host) => ({
    code: host.error!.code,
    message: failed.length > 1 ? `${count} hosts unreadable` : `Host ${host.name} is unreadable`,
    host: host.name,
    hint: [host.error!.message, host.error!.hint].filter(Boolean).join(" "),
  }));
  const unreadable = new Set(failed.map((host) => host.error!.code));
  const others = payload.filter(
    (warning) => !(named.has(warning.host) && unreadable.has(warning.code)),
  );
  return [...ofHosts, ...others];
}
