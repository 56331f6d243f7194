/** What the page says of hosts on whose tracks nothing has happened. */
import { Message } from "../../../widgets/text/message";

export function NoEvents({ hosts }: { hosts: number }) {
  return (
    <Message title="Trace viewer: nothing to show">
      <p>{hosts > 1 ? "The traces have no events." : "The trace has no events."}</p>
      <p class="muted">
        The program may have been idle while it was profiled: profile it while it works, for longer
        than one step.
      </p>
    </Message>
  );
}
