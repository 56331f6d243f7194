/** A button that shows what is chosen, and opens a list of what else there is. */
import type { ComponentChildren } from "preact";
import { Listbox, type Option } from "./listbox";
import { Popover } from "./popover";

interface PickerButtonProps {
  /** What the button shows of the choice. */
  readonly value: ComponentChildren;
  /** What else it shows. */
  readonly mark?: ComponentChildren;
  /** The button's name: what is chosen of what. */
  readonly title: string;
  readonly width: number;
  /** Drawn while open; `close` also returns the focus. */
  readonly children: (close: () => void) => ComponentChildren;
}

/** The button, for lists that are more than options. */
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
  /** What the options are, in the plural. */
  readonly label: string;
  readonly placeholder: string;
  readonly options: readonly Option[];
  readonly choose: (id: string) => void;
}

export function Picker({ label, placeholder, options, choose, ...button }: PickerProps) {
  return (
    <PickerButton {...button}>
      {(close) => (
        <Listbox
          label={label}
          placeholder={placeholder}
          options={options}
          choose={({ id }) => {
            close();
            choose(id);
          }}
        />
      )}
    </PickerButton>
  );
}
