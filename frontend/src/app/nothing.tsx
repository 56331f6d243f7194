/** The message for a run without a single page to show, with the reason per host or per page. */
import type { SessionHost } from "../api/types";
import { plural, sentence } from "../base/format";
import { Diagnoses } from "../widgets/diagnoses";
import { Message } from "../widgets/text/message";
import type { ToolTab } from "./tab_room";

interface NothingProps {
  readonly run: string;
  readonly hosts: readonly SessionHost[];
  readonly tabs: readonly ToolTab[];
  readonly retry: () => void;
}

const LISTED = 20;

export function Nothing({ run, hosts, tabs, retry }: NothingProps) {
  const failed = hosts.filter((host) => host.error !== null);
  const isUnreadable = hosts.length > 0 && failed.length === hosts.length;
  const said = isUnreadable
    ? failed.map((host) => host.error?.message ?? "")
    : tabs.map((tab) => tab.reason ?? "");
  return (
    <Message
      title={isUnreadable ? "This run could not be read" : "This run has nothing to show"}
      isAlert={isUnreadable}
    >
      {isUnreadable
        ? failed.slice(0, LISTED).map((host) => (
            <p key={host.name}>
              <b>{host.name}</b>: {sentence(host.error?.message ?? "")}
              {host.error?.hint ? <span class="muted"> {sentence(host.error.hint)}</span> : null}
            </p>
          ))
        : tabs.map((tab) => (
            <p key={tab.name}>
              <b>{tab.title}</b>: {sentence(tab.reason ?? "")}
              {tab.hint === "" ? null : <span class="muted"> {sentence(tab.hint)}</span>}
            </p>
          ))}
      {isUnreadable && failed.length > LISTED ? (
        <p>and {plural(failed.length - LISTED, "more host")}</p>
      ) : null}
      <Diagnoses run={run} said={said} />
      <p>
        <button type="button" class="button" onClick={retry}>
          Try again
        </button>
      </p>
    </Message>
  );
}
