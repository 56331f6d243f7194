/** The arrangement of lanes by the user: folding, pinning, hiding and ordering. */
import type { HostGroup } from "../model/lanes/groups";
import type { Lane } from "../model/lanes/lane_layout";
import type { TimelineModel } from "../model/model";
import type { Arrangement } from "../model/types";

export function patchArrangement(model: TimelineModel, patch: Partial<Arrangement>): void {
  model.arrangement.value = { ...model.arrangement.peek(), ...patch };
}

/** Whether the lane can be folded; lanes of one row cannot. */
export function isFoldable(lane: Lane): boolean {
  return lane.kind !== "track" || lane.item.track.rows > 1;
}

export function fold(model: TimelineModel, keys: readonly string[], isFolded: boolean): void {
  const collapsed = new Set(model.arrangement.peek().collapsed);
  for (const key of keys) {
    if (isFolded) collapsed.add(key);
    else collapsed.delete(key);
  }
  patchArrangement(model, { collapsed });
}

export function hide(model: TimelineModel, key: string): void {
  const { hidden, pinned } = model.arrangement.peek();
  patchArrangement(model, {
    hidden: new Set([...hidden, key]),
    pinned: pinned.filter((other) => other !== key),
  });
}

export function unhide(model: TimelineModel, keys: readonly string[]): void {
  const { hidden } = model.arrangement.peek();
  patchArrangement(model, { hidden: new Set([...hidden].filter((key) => !keys.includes(key))) });
}

export function togglePin(model: TimelineModel, key: string): void {
  const { pinned } = model.arrangement.peek();
  patchArrangement(model, {
    pinned: pinned.includes(key) ? pinned.filter((other) => other !== key) : [...pinned, key],
  });
}

/** Moves `key` before or after `target` among the lanes with the same parent. */
export function move(model: TimelineModel, key: string, target: string, isAfter: boolean): void {
  const { pinned, order } = model.arrangement.peek();
  if (key === target) return;
  if (pinned.includes(key) && pinned.includes(target)) {
    patchArrangement(model, { pinned: moved(pinned, key, target, isAfter) });
    return;
  }
  const natural = siblings(model.groups.peek(), key);
  if (!natural.includes(target)) return;
  const rank = new Map(order.map((key, index) => [key, index]));
  const rankOf = (key: string) => rank.get(key) ?? order.length;
  const shown = [...natural].sort((a, b) => rankOf(a) - rankOf(b));
  const others = order.filter((key) => !natural.includes(key));
  const first = leading(moved(shown, key, target, isAfter), natural);
  patchArrangement(model, { order: [...others, ...first] });
}

/** The shortest prefix of `shown` after which the others follow in their natural order. */
export function leading(shown: readonly string[], natural: readonly string[]): string[] {
  const place = new Map(natural.map((key, index) => [key, index]));
  let length = shown.length;
  while (
    length > 0 &&
    (length === shown.length || place.get(shown[length - 1])! < place.get(shown[length])!)
  )
    length--;
  return shown.slice(0, length);
}

/** The keys with the same parent as `key`, including itself, in the order of the files. */
export function siblings(groups: readonly HostGroup[], key: string): readonly string[] {
  if (groups.some((group) => group.key === key)) return groups.map((group) => group.key);
  for (const { sections } of groups) {
    if (sections.some((section) => section.key === key))
      return sections.map((section) => section.key);
    for (const { tracks, counters } of sections) {
      const keys = [...tracks, ...counters].map((item) => item.key);
      if (keys.includes(key)) return keys;
    }
  }
  return [];
}

/** The name of a hidden lane; null if it belongs to none of the hosts. */
export function nameOf(groups: readonly HostGroup[], key: string): string | null {
  for (const { key: hostKey, host, sections } of groups) {
    if (hostKey === key) return host.host;
    for (const section of sections) {
      if (section.key === key) return section.label;
      const track = section.tracks.find((item) => item.key === key);
      if (track) return track.track.name;
      const counter = section.counters.find((item) => item.key === key);
      if (counter) return counter.counter.name;
    }
  }
  return null;
}

function moved(
  keys: readonly string[],
  key: string,
  target: string,
  isAfter: boolean,
): readonly string[] {
  const others = keys.filter((other) => other !== key);
  return others.toSpliced(others.indexOf(target) + (isAfter ? 1 : 0), 0, key);
}
