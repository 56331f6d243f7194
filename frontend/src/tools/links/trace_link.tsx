/** Links from rows of tables to the trace viewer, and the action of the key `g`. */
import type { ComponentChildren } from "preact";
import type { View } from "../../base/url_state";
import type { Links } from "../tool";
import { type LinkTarget, ToolLink } from "./tool_link";
import { TRACE } from "./trace_links";

interface TraceLinkProps {
  readonly links: Links;
  /** null if there is nothing to show. */
  readonly view: View | null;
  readonly children?: string;
}

export function TraceLink({ links, view, children = "Show in the trace viewer" }: TraceLinkProps) {
  if (view === null) return null;
  return (
    <p class="detail-links">
      <ToolLink
        links={links}
        tool={TRACE}
        view={view}
        title="Highlight its events in the trace viewer (g)"
      >
        {children}
      </ToolLink>
    </p>
  );
}

interface EventLinkProps {
  readonly links: Links;
  readonly view: View | null;
  readonly children: ComponentChildren;
}

/** Links a name to its events, if there are any and the trace viewer is available. */
export function EventLink({ links, view, children }: EventLinkProps) {
  if (view === null || links.reason(TRACE) !== null) return <>{children}</>;
  return (
    <ToolLink links={links} tool={TRACE} view={view} className="event-link">
      {children}
    </ToolLink>
  );
}

/** A function that opens a row in the trace viewer, if that is available. */
export function toTrace(links: Links, viewOf: (row: number) => View | null) {
  return (row: number) => {
    const view = viewOf(row);
    if (view !== null) openInTrace(links, { view });
  };
}

/** Opens a target in the trace viewer, if that is available. */
export function openInTrace(links: Links, { view, hosts }: LinkTarget): void {
  if (links.reason(TRACE) === null) links.open(TRACE, view, hosts);
}
