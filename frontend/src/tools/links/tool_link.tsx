/** A link to another page of the run; where there is none, its text with the reason. */
import type { ComponentChildren } from "preact";
import type { View } from "../../base/url_state";
import type { Links } from "../tool";

interface ToolLinkProps {
  readonly links: Links;
  readonly tool: string;
  readonly view: View;
  /** Those that are chosen, unless given. */
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
    // Other buttons and modifiers open the link elsewhere, as for any link.
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

/** What a page keeps in the address, and the hosts that it is about: undefined for those chosen. */
export interface LinkTarget {
  readonly view: View;
  readonly hosts?: readonly string[];
}

/** "key=value&key=value" as what a link leads to. */
export function parseTarget(query: string): LinkTarget {
  const parameters = new URLSearchParams(query);
  const hosts = parameters.getAll("hosts");
  parameters.delete("hosts");
  const view = Object.fromEntries(parameters);
  return hosts.length > 0 ? { view, hosts } : { view };
}
