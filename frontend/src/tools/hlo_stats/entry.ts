import type { ToolEntry } from "../tools";

export default { isInBatches: true } satisfies ToolEntry;
