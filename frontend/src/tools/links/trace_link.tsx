/** Where a row of a table is in the trace viewer: a link, and what the key `g` does. */
import type { ComponentChildren } from "preact";
import type { View } from "../../base/url_state";
import type { Links } from "../tool";
import { type LinkTarget, ToolLink } from "./tool_link";
import { TRACE } from "./trace_links";

interface TraceLinkProps {
  readonly links: Links;
  /** null: there is nothing to show. */
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
        title="Its events in the trace viewer, marked (g)"
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

/** A name that leads to its events, where there is a trace viewer and something to show. */
export function EventLink({ links, view, children }: EventLinkProps) {
  if (view === null || links.reason(TRACE) !== null) return <>{children}</>;
  return (
    <ToolLink links={links} tool={TRACE} view={view} className="event-link">
      {children}
    </ToolLink>
  );
}

/** Opens the trace viewer, if there is one, on what `viewOf` says of a row. */
export function toTrace(links: Links, viewOf: (row: number) => View | null) {
  return (row: number) => {
    const view = viewOf(row);
    if (view !== null) openInTrace(links, { view });
  };
}

/** Opens the trace viewer, if there is one. */
export function openInTrace(links: Links, { view, hosts }: LinkTarget): void {
  if (links.reason(TRACE) === null) links.open(TRACE, view, hosts);
}
