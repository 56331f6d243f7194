/** A dialog whose code is loaded when it is opened; a failure is shown in a dialog as well. */
import type { JSX } from "preact";
import { Late } from "../late";
import { Dialog } from "./dialog";

interface LateDialogProps<Module> {
  readonly title: string;
  readonly close: () => void;
  readonly load: () => Promise<Module>;
  readonly children: (module: Module) => JSX.Element;
}

export function LateDialog<Module>({ title, close, load, children }: LateDialogProps<Module>) {
  return (
    <Late
      load={load}
      frame={(error) => (
        <Dialog title={title} close={close}>
          {error}
        </Dialog>
      )}
    >
      {children}
    </Late>
  );
}
