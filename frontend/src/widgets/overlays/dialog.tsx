/** A modal dialog: the native element, which traps the focus and closes on Escape. */
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

interface DialogProps {
  readonly title: string;
  readonly close: () => void;
  readonly children: ComponentChildren;
  readonly className?: string;
}

export function Dialog({ title, close, children, className = "" }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  // The close event is asynchronous: by then, another dialog may be open.
  const isGone = useRef(false);
  // A layout effect runs before the effects of the content, which may then take the focus.
  useLayoutEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    return () => {
      isGone.current = true;
      shown?.close();
    };
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the click is on the backdrop; Escape is the key
    <dialog
      ref={dialog}
      class={`dialog ${className}`}
      aria-label={title}
      onClose={() => {
        if (!isGone.current) close();
      }}
      onClick={(event) => {
        if (event.target === dialog.current) close();
      }}
    >
      <div class="dialog-body">
        <header>
          <h2>{title}</h2>
          <button type="button" class="icon" aria-label="Close" onClick={close}>
            ✕
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}
