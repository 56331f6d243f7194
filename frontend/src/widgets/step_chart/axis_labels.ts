/** What steps are called below an axis, in few letters. */

const MOST = 12;

/** [steps] the labels; where some are long, without what all share, then without their start. */
export function axisLabels(labels: readonly string[]): readonly string[] {
  if (labels.every((label) => label.length <= MOST)) return labels;
  return shortLabels(labels).short.map((label) =>
    label.length <= MOST ? label : `…${label.slice(1 - MOST)}`,
  );
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
