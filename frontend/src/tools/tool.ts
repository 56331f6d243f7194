/** What a page of the profile is made of. One folder per tool, named as on the server. */
import type { ComponentType } from "preact";
import type { DataTable } from "../api/data_table";
import type { Warning } from "../api/types";
import type { View } from "../base/url_state";

export type Select = (patch: Readonly<Record<string, string | null>>) => void;

/** Asks `route`, "data" by default, of the page's own tool or the one that the parameter `tag` names. */
export type Ask = (
  parameters: Readonly<Record<string, string>>,
  signal: AbortSignal,
  route?: string,
) => Promise<unknown>;

/** One entry of the command palette that the page itself offers. */
export interface Find {
  readonly kind: string;
  readonly names: readonly string[];
  readonly choose: (name: string) => void;
}

/** The other pages of the run. */
export interface Links {
  /** Why the page cannot be opened, null where it can. */
  readonly reason: (tool: string) => string | null;
  /** The page's title and the short one on its tab; the tool's name where the server has no such. */
  readonly title: (tool: string) => string;
  readonly short: (tool: string) => string;
  /** The address of a page that shows `view`, of `hosts` or else those that are chosen. */
  readonly address: (tool: string, view: View, hosts?: readonly string[]) => string;
  readonly open: (tool: string, view: View, hosts?: readonly string[]) => void;
}

export interface PageProps<P> {
  /** The page's name. */
  readonly title: string;
  readonly payload: P;
  /** What of the address belongs to the page. */
  readonly view: View;
  readonly select: Select;
  readonly links: Links;
  /** The tool's data of the same run and hosts, with further parameters, or another route: the raw JSON. */
  readonly ask: Ask;
  /** For the names of files. */
  readonly fileName: string;
  readonly run: string;
  /** The chosen hosts that can be read, in the run's order. */
  readonly hosts: readonly string[];
  /** What the banner says besides the payload's own warnings, until it is set again. */
  readonly warn: (warnings: readonly Warning[]) => void;
}

export interface Tool<P> {
  /** Throws PayloadError. */
  readonly parse: (json: unknown) => P;
  readonly warnings: (payload: P) => readonly Warning[];
  /** Why there is nothing to show, null where there is something. */
  readonly emptiness: (payload: P) => string | null;
  /** Names in the payload, for the command palette. */
  readonly finds: (payload: P, select: Select) => readonly Find[];
  readonly Page: ComponentType<PageProps<P>>;
  /** What the help says of the page besides its keys, as sections. */
  readonly Help?: ComponentType;
}

/** Shows the rows of one name alone: every filter goes but that on column `id`. */
export function showOnly(table: DataTable, id: string, name: string, select: Select): void {
  const cleared = table.columns.map((column) => [`f.${column.id}`, null]);
  select({ ...Object.fromEntries(cleared), [`f.${id}`]: `=${name}`, group: null, filters: "1" });
}

/** Hides the payload's type, which only the tool knows. */
export type AnyTool = Tool<unknown>;

export function defineTool<P>(tool: Tool<P>): AnyTool {
  return tool as unknown as AnyTool;
}
