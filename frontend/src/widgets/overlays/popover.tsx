/** A panel beside the button that opens it, in the top layer, closed by Escape or a click outside. */
import type { ComponentChildren } from "preact";
import { useId, useRef, useState } from "preact/hooks";

interface PopoverProps {
  /** The content of the button. */
  readonly label: ComponentChildren;
  readonly buttonClass?: string;
  /** The button's accessible name and tooltip, if its content is only a symbol. */
  readonly title?: string;
  /** The tooltip of a button that is named by its content. */
  readonly note?: string;
  readonly width: number;
  /** The panel's accessible name; not used for listboxes, which have their own. */
  readonly panelLabel?: string;
  readonly role?: "dialog" | "menu" | "listbox";
  /** Drawn while open; `close` also returns the focus. */
  readonly children: (close: () => void) => ComponentChildren;
}

const MARGIN = 8;

export function Popover(props: PopoverProps) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const panel = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  const place = (event: Pick<ToggleEvent, "newState">) => {
    if (event.newState !== "open" || !button.current || !panel.current) return;
    const anchor = button.current.getBoundingClientRect();
    const width = Math.min(props.width, window.innerWidth - 2 * MARGIN);
    const { style } = panel.current;
    const isLow = anchor.bottom > window.innerHeight * 0.7;
    style.width = `${width}px`;
    style.left = `${Math.max(MARGIN, Math.min(anchor.left, window.innerWidth - width - MARGIN))}px`;
    style.top = isLow ? "auto" : `${anchor.bottom + 4}px`;
    style.bottom = isLow ? `${window.innerHeight - anchor.top + 4}px` : "auto";
    style.maxHeight = `${(isLow ? anchor.top : window.innerHeight - anchor.bottom) - 2 * MARGIN}px`;
    setOpen(true);
  };
  const close = () => {
    panel.current?.hidePopover?.();
    button.current?.focus();
  };
  return (
    <>
      <button
        type="button"
        ref={button}
        class={props.buttonClass ?? "button"}
        popovertarget={id}
        title={props.title ?? props.note}
        aria-label={props.title}
        aria-haspopup={props.role ?? "dialog"}
        aria-expanded={isOpen}
      >
        {props.label}
      </button>
      <div
        id={id}
        ref={panel}
        popover="auto"
        class="popover"
        role={props.role === "listbox" ? undefined : (props.role ?? "dialog")}
        aria-label={props.role === "listbox" ? undefined : props.panelLabel}
        onBeforeToggle={place}
        onToggle={(event) => setOpen(event.newState === "open")}
      >
        {isOpen ? props.children(close) : null}
      </div>
    </>
  );
}
