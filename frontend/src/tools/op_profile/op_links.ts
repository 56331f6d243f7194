/** Targets on other pages for an op: its events, its kernels, its graph. */
import type { View } from "../../base/url_state";
import { marking } from "../links/trace_links";
import { type Profile, textOf } from "./payload";

export const KERNELS = "kernel_stats";
export const GRAPH = "graph_viewer";
export const MEMORY = "memory_viewer";

/** All events that are executions of the op. */
export function executionsOf(profile: Profile, place: number): View | null {
  const name = textOf(profile, profile.rows.name[place]);
  const program = textOf(profile, profile.rows.programId[place]);
  if (name === "" || name.endsWith("…")) return null;
  return marking(`instruction:${name} program:${program}`);
}

/** The rows of kernels of one name in the kernel table. */
export function kernelRows(kernel: string): View {
  return { "f.kernel_name": `=${kernel}`, filters: "1" };
}

/** The instruction in the graph viewer, and its program's memory. */
export function instructionView(profile: Profile, place: number): View {
  return {
    program_id: textOf(profile, profile.rows.programId[place]),
    node_name: textOf(profile, profile.rows.name[place]),
  };
}
