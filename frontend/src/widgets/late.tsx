/** Content whose code is loaded when it is first shown. */
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { noAnswer } from "../api/errors";
import { ErrorMessage } from "./text/message";

interface LateProps<Module> {
  /** Called once per attempt; must always load the same module. */
  readonly load: () => Promise<Module>;
  readonly children: (module: Module) => ComponentChildren;
  /** Wraps the error message if loading fails. */
  readonly frame?: (error: ComponentChildren) => ComponentChildren;
}

export function Late<Module>({ load, children, frame = (error) => error }: LateProps<Module>) {
  const [loaded, setLoaded] = useState<{ readonly module: Module } | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    setError(null);
    // Loading fails only if the server is unreachable.
    load().then(
      (module) => setLoaded({ module }),
      () => setError(noAnswer()),
    );
  }, [attempt]);
  if (loaded !== null) return <>{children(loaded.module)}</>;
  if (error === null) return null;
  return <>{frame(<ErrorMessage error={error} retry={() => setAttempt(attempt + 1)} />)}</>;
}
