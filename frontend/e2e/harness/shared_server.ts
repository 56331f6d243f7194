/** The server of all runs that tests look at: see all_runs.ts. */
import { inject } from "vitest";
import type { Site } from "./servers";

export const server: Site = inject("site");
