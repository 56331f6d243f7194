/**
 * The pages there are: the folders beside this file that have an `index.ts`, each loaded when its
 * page is first opened. Names, order and labels of tools are the server's.
 */
import type { Outline } from "../widgets/text/message";
import type { AnyTool } from "./tool";

/** What is known of a page before it is loaded: the default export of its `entry.ts`, if any. */
export interface ToolEntry {
  /** What is shown before data; by default a row of charts above a table. */
  readonly outline?: Outline;
  /** What of the address the server is asked with; pages that have a parameter share its value. */
  readonly parameters?: readonly string[];
  /** What the server is asked with where the address says nothing of it. */
  readonly defaults?: Readonly<Record<string, string>>;
  /** The page asks the server itself, for what it shows: its payload is null. */
  readonly asksItself?: boolean;
}

interface LoadedTool extends ToolEntry {
  readonly load: () => Promise<AnyTool>;
}

const loaders = import.meta.glob<AnyTool>("./*/index.ts", { import: "default" });
const entries = import.meta.glob<ToolEntry>("./*/entry.ts", { import: "default", eager: true });

/** By the tool's name on the server, which is that of its folder. */
export const TOOLS: Readonly<Record<string, LoadedTool>> = Object.fromEntries(
  Object.entries(loaders).map(([path, load]) => {
    const folder = path.split("/")[1];
    return [folder, { ...entries[`./${folder}/entry.ts`], load }];
  }),
);
