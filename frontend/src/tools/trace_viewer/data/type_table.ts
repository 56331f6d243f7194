/** The types of events that arrive with tiles: each pair of name and category once, with its colors. */
import {
  type ColorIndex,
  colorOfMeaning,
  hueOfName,
  hueOfNumber,
} from "../../../widgets/canvas/event_colors";
import { shortName } from "../model/short_name";
import type { Category } from "../protocol/payload";
import type { TypeName } from "../protocol/tiles";

export class TypeTable {
  /** By type number. */
  readonly names: string[] = [];
  readonly categories: number[] = [];
  private readonly numbers = new Map<number, number>();
  private readonly byText = new Map<string, number>();
  private readonly named = new Map<string, number[]>();
  private readonly short: (string | undefined)[] = [];
  private byName = new Uint8Array(64);
  private byCategory = new Uint8Array(64);
  private byMeaning = new Uint8Array(64);

  constructor(private readonly meanings: readonly Category[]) {}

  /** The numbers of the types in a response. */
  readonly intern = (types: readonly TypeName[]): Uint32Array =>
    Uint32Array.from(types, (type) => this.numbers.get(type.id) ?? this.add(type));

  /** [types] The colors by type number; valid until further types are added. */
  colorsBy(by: "name" | "category" | "group"): Uint8Array {
    if (by === "name") return this.byName;
    return by === "category" ? this.byCategory : this.byMeaning;
  }

  /** The label of an event: readable, with its arguments folded. */
  shortName(type: number): string {
    let short = this.short[type];
    if (short === undefined) {
      short = shortName(this.names[type] ?? "");
      this.short[type] = short;
    }
    return short;
  }

  /** The numbers of the types with a name, one for each category seen so far. */
  numbersOf(name: string): readonly number[] {
    return this.named.get(asInTiles(name)) ?? [];
  }

  private add({ id, name, category }: TypeName): number {
    const text = `${category} ${name}`;
    const known = this.byText.get(text);
    const number = known ?? this.names.length;
    this.numbers.set(id, number);
    if (known !== undefined) return known;
    this.byText.set(text, number);
    const others = this.named.get(name);
    if (others) others.push(number);
    else this.named.set(name, [number]);
    this.names.push(name);
    this.categories.push(category);
    if (number >= this.byName.length) {
      this.byName = doubled(this.byName);
      this.byCategory = doubled(this.byCategory);
      this.byMeaning = doubled(this.byMeaning);
    }
    this.byName[number] = hueOfName(name);
    this.byCategory[number] = hueOfNumber(category);
    this.byMeaning[number] = this.meaningOf(category);
    return number;
  }

  private meaningOf(category: number): ColorIndex {
    return colorOfMeaning(this.meanings[category]?.meaning ?? "");
  }
}

/** The server truncates names in tiles at 200 characters. */
export function asInTiles(name: string): string {
  return name.length <= 200 ? name : [...name.slice(0, 400)].slice(0, 200).join("");
}

function doubled(values: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(values.length * 2);
  larger.set(values);
  return larger;
}
