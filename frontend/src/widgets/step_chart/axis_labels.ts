/** What steps are called below an axis. */
import type { StepAxis } from "./steps";

/** Longer labels are cut: their whole text is in the card at the pointer. */
const MOST = 40;
const CHARACTER = 6.5;
const GAP = 16;

/** What the axis counts: what all labels share, else the event that marks the steps. */
export function axisName({ labels, marker = "" }: StepAxis): string {
  return shortLabels(labels).shared || marker || "Step";
}

/** [steps] the labels without what all share. */
export function axisLabels(labels: readonly string[]): readonly string[] {
  return shortLabels(labels).short.map((label) =>
    label.length <= MOST ? label : `${label.slice(0, MOST - 1)}…`,
  );
}

/** How far apart the labels have to be, in CSS pixels, about. */
export function labelRoom(labels: readonly string[]): number {
  return GAP + CHARACTER * labels.reduce((most, { length }) => Math.max(most, length), 0);
}

/** "train 3" and "train 4" as "3" and "4", with what they share: "train". */
export function shortLabels(labels: readonly string[]): {
  readonly shared: string;
  readonly short: readonly string[];
} {
  const first = labels[0] ?? "";
  const at = first.lastIndexOf(" ");
  const shared = first.slice(0, at + 1);
  if (labels.length < 2 || shared === "" || !labels.every((label) => label.startsWith(shared)))
    return { shared: "", short: labels };
  return { shared: shared.trim(), short: labels.map((label) => label.slice(shared.length)) };
}
