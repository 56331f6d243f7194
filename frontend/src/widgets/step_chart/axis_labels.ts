/** Labels of steps below an axis. */
import type { StepAxis } from "./steps";

/** Longer labels are truncated; the card at the pointer shows the full text. */
const MOST = 40;
const CHARACTER = 6.5;
const GAP = 16;

/** The axis title: the common prefix of the labels, else the event that marks the steps. */
export function axisName({ labels, marker = "" }: StepAxis): string {
  return shortLabels(labels).shared || marker || "Step";
}

/** [steps] The labels without their common prefix. */
export function axisLabels(labels: readonly string[]): readonly string[] {
  return shortLabels(labels).short.map((label) =>
    label.length <= MOST ? label : `${label.slice(0, MOST - 1)}…`,
  );
}

/** The approximate minimum distance between labels in CSS pixels. */
export function labelRoom(labels: readonly string[]): number {
  return GAP + CHARACTER * labels.reduce((most, { length }) => Math.max(most, length), 0);
}

/** "train 3" and "train 4" as "3" and "4" with the common prefix "train". */
export function shortLabels(labels: readonly string[]): {
  readonly shared: string;
  readonly short: readonly string[];
} {
  const first = labels[0] ?? "";
  const index = first.lastIndexOf(" ");
  const shared = first.slice(0, index + 1);
  if (labels.length < 2 || shared === "" || !labels.every((label) => label.startsWith(shared)))
    return { shared: "", short: labels };
  return { shared: shared.trim(), short: labels.map((label) => label.slice(shared.length)) };
}
