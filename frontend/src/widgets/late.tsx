/** What few open: its code is loaded when it is first shown. */
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { noAnswer } from "../api/errors";
import { ErrorMessage } from "./text/message";

interface LateProps<Module> {
  /** Asked once for each attempt: what it loads is always the same. */
  readonly load: () => Promise<Module>;
  readonly children: (module: Module) => ComponentChildren;
  /** What stands around the error where loading failed. */
  readonly frame?: (error: ComponentChildren) => ComponentChildren;
}

export function Late<Module>({ load, children, frame = (error) => error }: LateProps<Module>) {
  const [loaded, setLoaded] = useState<{ readonly module: Module } | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    setError(null);
    // What can fail is the way to the server.
    load().then(
      (module) => setLoaded({ module }),
      () => setError(noAnswer()),
    );
  }, [attempt]);
  if (loaded !== null) return <>{children(loaded.module)}</>;
  if (error === null) return null;
  return <>{frame(<ErrorMessage error={error} retry={() => setAttempt(attempt + 1)} />)}</>;
}
