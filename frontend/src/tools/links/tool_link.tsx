/** A link to another page of the run; plain text with the reason if the page is unavailable. */
import type { ComponentChildren } from "preact";
import type { View } from "../../base/url_state";
import type { Links } from "../tool";

interface ToolLinkProps {
  readonly links: Links;
  readonly tool: string;
  readonly view: View;
  /** The hosts to open; by default the chosen ones. */
  readonly hosts?: readonly string[];
  readonly children: ComponentChildren;
  readonly className?: string;
  readonly title?: string;
}

export function ToolLink(props: ToolLinkProps) {
  const { links, tool, view, hosts, children, className, title } = props;
  const reason = links.reason(tool);
  if (reason !== null) {
    return (
      <span class={`${className ?? ""} muted`} title={reason}>
        {children}
      </span>
    );
  }
  const follow = (event: MouseEvent) => {
    // Other buttons and modifiers keep their usual meaning, such as opening a new tab.
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    links.open(tool, view, hosts);
  };
  return (
    <a class={className} href={links.address(tool, view, hosts)} title={title} onClick={follow}>
      {children}
    </a>
  );
}

/** The view and the hosts to open; without hosts, the chosen ones. */
export interface LinkTarget {
  readonly view: View;
  readonly hosts?: readonly string[];
}

/** Parses a target of the form "key=value&key=value". */
export function parseTarget(query: string): LinkTarget {
  const parameters = new URLSearchParams(query);
  const hosts = parameters.getAll("hosts");
  parameters.delete("hosts");
  const view = Object.fromEntries(parameters);
  return hosts.length > 0 ? { view, hosts } : { view };
}
