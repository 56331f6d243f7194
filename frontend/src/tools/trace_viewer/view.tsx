/** Trace viewer: every event of the chosen hosts on one time axis. */
import type { PageProps } from "../tool";

export function TracePage({ hosts }: PageProps<null>) {
  return (
    <div class="trace">
      <h1 class="unseen">Trace viewer</h1>
      {hosts.join(", ")}
    </div>
  );
}
