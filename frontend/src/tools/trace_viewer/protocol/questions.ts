/** Parameters of requests about a timeline. */
import type { Part } from "./payload";

/** The filter for events that are drawn. */
export interface EventFilter {
  readonly name: string;
  readonly isRegex: boolean;
  readonly isCase: boolean;
  /** Names of categories; [] for all. */
  readonly categories: readonly string[];
  readonly minPs: number;
}

export const NO_FILTER: EventFilter = {
  name: "",
  isRegex: false,
  isCase: false,
  categories: [],
  minPs: 0,
};

/** The search for events to highlight. */
export interface Search {
  readonly text: string;
  readonly isRegex: boolean;
  readonly isCase: boolean;
}

export interface TileQuery {
  readonly host: string;
  readonly part: Part;
  readonly version: string;
  readonly level: number;
  /** Tiles [from, to). */
  readonly from: number;
  readonly to: number;
}

export type Move =
  | "next"
  | "previous"
  | "parent"
  | "child"
  | "next_same"
  | "previous_same"
  | "first_same";
