/** The name of a row in a tree: indented, with a button that expands the row. */
import { Name } from "../text/name";

/** Deeper rows are not indented further. */
const DEEPEST_INDENT = 40;

interface LevelNameProps {
  readonly name: string;
  /** The displayed form of the name. */
  readonly text: string;
  /** From 1. */
  readonly depth: number;
  readonly isFound: boolean;
  /** null if the row has no children. */
  readonly isOpen: boolean | null;
  readonly turn: () => void;
}

export function LevelName({ name, text, depth, isFound, isOpen, turn }: LevelNameProps) {
  return (
    <span
      class={isFound ? "level-name found" : "level-name"}
      style={{ "--depth": `${Math.min(depth - 1, DEEPEST_INDENT)}` }}
    >
      {isOpen === null ? (
        <span class="level-leaf" />
      ) : (
        <button
          type="button"
          class="bare level-turn"
          tabIndex={-1}
          aria-label={isOpen ? "Close" : "Open"}
          onClick={(event) => {
            event.stopPropagation();
            turn();
          }}
        >
          {isOpen ? "▾" : "▸"}
        </button>
      )}
      <Name text={text} full={name} />
    </span>
  );
}
