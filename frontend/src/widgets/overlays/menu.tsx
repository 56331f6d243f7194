/** A button that opens a list of actions. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Popover } from "./popover";

interface MenuItem {
  readonly label: string;
  readonly run: () => void;
  /** For choices: whether this one is active. */
  readonly isChecked?: boolean;
  /** Why it is disabled. */
  readonly reason?: string;
}

interface MenuProps {
  readonly label: ComponentChildren;
  readonly title: string;
  readonly items: readonly MenuItem[];
  readonly buttonClass?: string;
  readonly width?: number;
}

export function Menu({ label, title, items, buttonClass, width = 220 }: MenuProps) {
  return (
    <Popover
      label={label}
      title={title}
      panelLabel={title}
      buttonClass={buttonClass}
      width={width}
      role="menu"
    >
      {(close) => <MenuList items={items} close={close} />}
    </Popover>
  );
}

function MenuList({ items, close }: { items: readonly MenuItem[]; close: () => void }) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const checked = list.current?.querySelector<HTMLElement>('[aria-checked="true"]');
    (checked ?? list.current?.querySelector<HTMLElement>("button"))?.focus();
  }, []);
  const move = (event: KeyboardEvent) => {
    const buttons = [...(list.current?.querySelectorAll("button") ?? [])];
    const index = buttons.indexOf(document.activeElement as HTMLButtonElement);
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    buttons[(index + step + buttons.length) % buttons.length]?.focus();
  };
  return (
    <div class="menu" ref={list} onKeyDown={move} role="none">
      {items.map((item) => (
        <button
          type="button"
          key={item.label}
          role={item.isChecked === undefined ? "menuitem" : "menuitemradio"}
          aria-checked={item.isChecked}
          aria-disabled={item.reason !== undefined}
          title={item.reason}
          onClick={() => {
            if (item.reason !== undefined) return;
            close();
            item.run();
          }}
        >
          <span class="menu-mark">{item.isChecked ? "✓" : ""}</span>
          {item.label}
          {item.reason ? <small>{item.reason}</small> : null}
        </button>
      ))}
    </div>
  );
}
