/** Buttons and switches of bars, cards and sentences; buttons submit no form. */
import type { ButtonHTMLAttributes, ComponentChildren } from "preact";

type ButtonProps = Omit<ButtonHTMLAttributes<HTMLButtonElement>, "type" | "class">;

export function SmallButton(props: ButtonProps) {
  return <button type="button" class="button small" {...props} />;
}

/** A button that looks like a link. */
export function LinkButton(props: ButtonProps) {
  return <button type="button" class="link" {...props} />;
}

interface SwitchProps {
  readonly isOn: boolean;
  readonly turn: (isOn: boolean) => void;
  readonly children: ComponentChildren;
}

export function Switch({ isOn, turn, children }: SwitchProps) {
  return (
    <label class="switch">
      <input
        type="checkbox"
        checked={isOn}
        onChange={(event) => turn(event.currentTarget.checked)}
      />
      {children}
    </label>
  );
}
