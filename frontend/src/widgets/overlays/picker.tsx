/** A button that shows the current choice and opens a list of options. */
import type { ComponentChildren } from "preact";
import { Listbox, type Option } from "./listbox";
import { Popover } from "./popover";

interface PickerButtonProps {
  /** The current choice. */
  readonly value: ComponentChildren;
  /** A mark beside it. */
  readonly mark?: ComponentChildren;
  /** The button's accessible name, such as "Run train_1". */
  readonly title: string;
  readonly width: number;
  /** Drawn while open; `close` also returns the focus. */
  readonly children: (close: () => void) => ComponentChildren;
}

/** A picker button with arbitrary content. */
export function PickerButton({ value, mark, title, width, children }: PickerButtonProps) {
  return (
    <Popover
      label={
        <>
          <span class="picker-value">{value}</span>
          {mark} <span aria-hidden="true">▾</span>
        </>
      }
      title={title}
      buttonClass="picker-button"
      role="listbox"
      width={width}
    >
      {children}
    </Popover>
  );
}

interface PickerProps extends Omit<PickerButtonProps, "children"> {
  /** The plural noun for the options. */
  readonly label: string;
  readonly placeholder: string;
  /** Made while open: there may be thousands, and the button is drawn again and again. */
  readonly options: () => readonly Option[];
  readonly choose: (id: string) => void;
}

export function Picker({ label, placeholder, options, choose, ...button }: PickerProps) {
  return (
    <PickerButton {...button}>
      {(close) => (
        <Listbox
          label={label}
          placeholder={placeholder}
          options={options()}
          choose={({ id }) => {
            close();
            choose(id);
          }}
        />
      )}
    </PickerButton>
  );
}
