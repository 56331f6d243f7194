/** The server's progress on a page, and on the list of hosts that it needs first. */
import { useEffect, useState } from "preact/hooks";
import { pollProgress } from "../../api/poll_progress";
import type { Progress } from "../../api/types";

/** null until the server has reported something. */
export function useProgress(run: string, tool: string, isActive: boolean): Progress | null {
  const [progress, setProgress] = useState<Progress | null>(null);
  useEffect(() => {
    setProgress(null);
    return isActive && run !== "" ? pollProgress(run, tool, setProgress) : undefined;
  }, [run, tool, isActive]);
  return progress;
}
