/** The interface of a tool's page. Each tool has a folder with its name on the server. */
import type { ComponentType } from "preact";
import type { DataTable } from "../api/data_table";
import type { Warning } from "../api/types";
import type { View } from "../base/url_state";

export type Select = (patch: Readonly<Record<string, string | null>>) => void;

/** Requests `route`, "data" by default, for the page's tool or the one in the parameter `tag`. */
export type Ask = (
  parameters: Readonly<Record<string, string>>,
  signal: AbortSignal,
  route?: string,
) => Promise<unknown>;

/** Entries that a page adds to the command palette. */
export interface Find {
  readonly kind: string;
  readonly names: readonly string[];
  readonly choose: (name: string) => void;
}

/** The other pages of the run. */
export interface Links {
  /** Why the page cannot be opened; null if it can. */
  readonly reason: (tool: string) => string | null;
  /** The page's title and its short title on the tab; the tool's name if the server has no such. */
  readonly title: (tool: string) => string;
  readonly short: (tool: string) => string;
  /** The address of a page with `view` and `hosts`, by default the chosen ones. */
  readonly address: (tool: string, view: View, hosts?: readonly string[]) => string;
  readonly open: (tool: string, view: View, hosts?: readonly string[]) => void;
}

export interface PageProps<P> {
  /** The page's name. */
  readonly title: string;
  readonly payload: P;
  /** The page's own part of the address. */
  readonly view: View;
  readonly select: Select;
  readonly links: Links;
  /** Requests raw JSON for the same run and hosts, with further parameters or from another route. */
  readonly ask: Ask;
  /** The base name of saved files. */
  readonly fileName: string;
  readonly run: string;
  /** The chosen hosts that can be read, in the run's order. */
  readonly hosts: readonly string[];
  /** Sets warnings for the banner, in addition to the payload's own. */
  readonly warn: (warnings: readonly Warning[]) => void;
}

export interface Tool<P> {
  /** Throws PayloadError. */
  readonly parse: (json: unknown) => P;
  readonly warnings: (payload: P) => readonly Warning[];
  /** Why there is nothing to show; null if there is something. */
  readonly emptiness: (payload: P) => string | null;
  /** Names in the payload, for the command palette. */
  readonly finds: (payload: P, select: Select) => readonly Find[];
  readonly Page: ComponentType<PageProps<P>>;
  /** Sections for the help besides the page's keys. */
  readonly Help?: ComponentType;
}

/** Shows only the rows with one name: replaces all filters by one on column `id`. */
export function showOnly(table: DataTable, id: string, name: string, select: Select): void {
  const cleared = table.columns.map((column) => [`f.${column.id}`, null]);
  select({ ...Object.fromEntries(cleared), [`f.${id}`]: `=${name}`, group: null, filters: "1" });
}

/** A tool without its payload type, which only the tool itself knows. */
export type AnyTool = Tool<unknown>;

export function defineTool<P>(tool: Tool<P>): AnyTool {
  return tool as unknown as AnyTool;
}
