/**
 * The available pages: the folders next to this file with an `index.ts`, each loaded when its page
 * is first opened. The server defines the names, order and labels of tools.
 */
import type { Outline } from "../widgets/text/message";
import type { AnyTool } from "./tool";

/** What is known of a page before its code is loaded: the default export of its `entry.ts`. */
export interface ToolEntry {
  /** The skeleton; by default a row of charts above a table. */
  readonly outline?: Outline;
  /** The parts of the address that are sent to the server; pages share parameters of one name. */
  readonly parameters?: readonly string[];
  /** Parameters that are sent if the address does not have them. */
  readonly defaults?: Readonly<Record<string, string>>;
  /** The rows of its table come in batches, so that the first ones are shown at once. */
  readonly isInBatches?: boolean;
  /** The page requests its data itself; its payload is null. */
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
