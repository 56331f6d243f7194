/** Folds op names that differ only in numbers, such as those of replicas and layers. */
import { cut } from "../../base/names";

/** "layer", "_12" and ")" of "layer_12)"; XLA numbers its instructions after a dot. */
const NUMBERED = /^(.*?)([._]\d+)?(\)*)$/;

// "replica_0/layer_1/mul", "replica_1/layer_2/mul"  ->  "replica_*/layer_*/mul" for both;
// "replica_0/add_2", which resembles no other name, is unchanged.
/** The name of each name's family: numbers in which its members differ become stars. */
export function foldNumbers(names: readonly string[]): string[] {
  const parts = names.map((name) => cut(name).split("/"));
  const stems = parts.map((segments) => segments.map(stem));
  const families = new Map<string, number[]>();
  stems.forEach((segments, index) => {
    const key = segments.join("/");
    const known = families.get(key);
    if (known) known.push(index);
    else families.set(key, [index]);
  });
  const folded = names.slice();
  for (const members of families.values()) {
    if (members.length < 2) continue;
    const [first] = members;
    const name = parts[first]
      .map((text, level) =>
        members.every((index) => parts[index][level] === text)
          ? text
          : starred(
              stems[first][level],
              members.map((index) => parts[index][level]),
            ),
      )
      .join("/");
    for (const at of members) folded[at] = name;
  }
  return folded;
}

function stem(segment: string): string {
  const parts = NUMBERED.exec(segment);
  return parts ? parts[1] + parts[3] : segment;
}

/** The stem that the segments share, with a star in place of their numbers. */
function starred(text: string, segments: readonly string[]): string {
  const end = /\)*$/.exec(text)!.index;
  const mark = segments.some((segment) => segment.startsWith(".", end)) ? "." : "_";
  return `${text.slice(0, end)}${mark}*${text.slice(end)}`;
}

/** The filter that matches a family. */
export function familyFilter(name: string): string {
  const texts = name.split(/[._]\*/);
  if (texts.length === 1) return `=${name}`;
  const pattern = texts
    .map((text) => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"))
    .join("([._]\\d+)?");
  return `/^${pattern}$/`;
}
