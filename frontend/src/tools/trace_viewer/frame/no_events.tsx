/** The message for hosts without events. */
import { Message } from "../../../widgets/text/message";

export function NoEvents({ hosts }: { hosts: number }) {
  return (
    <Message title="Trace viewer: nothing to show">
      <p>{hosts > 1 ? "The traces have no events." : "The trace has no events."}</p>
      <p class="muted">
        The program may have been idle during the recording. Record it while it is working, for
        longer than one step.
      </p>
    </Message>
  );
}
