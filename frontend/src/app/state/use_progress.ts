/** What the server is doing for a page, and for the list of hosts before it. */
import { useEffect, useState } from "preact/hooks";
import { pollProgress } from "../../api/poll_progress";
import type { Progress } from "../../api/types";

/** null before there is anything to say. */
export function useProgress(run: string, tool: string, isActive: boolean): Progress | null {
  const [progress, setProgress] = useState<Progress | null>(null);
  useEffect(() => {
    setProgress(null);
    return isActive && run !== "" ? pollProgress(run, tool, setProgress) : undefined;
  }, [run, tool, isActive]);
  return progress;
}
