/** Loads the memory that the address selects. */
import type { View } from "../../base/url_state";
import type { Ask } from "../tool";
import { useViewAnswer } from "../view_answer";
import { type Memory, parseMemory } from "./payload";

const PARAMETERS = ["memory_id", "at_ps", "from_ps", "to_ps"] as const;

export function useMemory(payload: Memory, view: View, ask: Ask) {
  const { value, isLoading, error } = useViewAnswer(payload, view, ask, PARAMETERS, parseMemory);
  return { memory: value, isLoading, error };
}
