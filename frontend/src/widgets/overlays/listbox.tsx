/** A list with a search field, used by pickers and the command palette. */
import type { ComponentChildren } from "preact";
import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import { formatCount } from "../../base/format";

export interface Option {
  readonly id: string;
  /** The text that is searched, and shown if there is no `content`. */
  readonly text: string;
  readonly content?: ComponentChildren;
  readonly isSelected?: boolean;
  /** At most `most` options of a group are listed. */
  readonly group?: string;
}

interface ListboxProps {
  readonly label: string;
  readonly options: readonly Option[];
  readonly choose: (option: Option) => void;
  readonly placeholder: string;
  readonly isMultiple?: boolean;
  /** The maximum number of listed options; the number of the others is shown. */
  readonly limit?: number;
  /** The maximum per group. */
  readonly most?: number;
  /** Called when the query changes. */
  readonly typed?: (query: string) => void;
}

const LIMIT = 200;

export function Listbox(props: ListboxProps) {
  const { options, choose, limit = LIMIT } = props;
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const [query, setQuery] = useState("");
  const [active, setActive] = useState(() =>
    Math.max(
      options.findIndex((option) => option.isSelected),
      0,
    ),
  );
  const { most = Number.POSITIVE_INFINITY } = props;
  const matching = useMemo(() => search(options, query), [options, query]);
  const offered = useMemo(() => firstOfGroups(matching, most), [matching, most]);
  const listed = offered.slice(0, limit);
  const at = Math.min(active, listed.length - 1);
  useEffect(() => field.current?.focus(), []);
  useEffect(() => {
    list.current?.querySelector(`[data-at="${at}"]`)?.scrollIntoView({ block: "nearest" });
  }, [at]);
  const onKeyDown = (event: KeyboardEvent) => {
    const target = step(event.key, at, listed.length);
    if (target !== null) {
      event.preventDefault();
      setActive(target);
    } else if (event.key === "Enter" && listed[at]) {
      event.preventDefault();
      choose(listed[at]);
    }
  };
  return (
    <div class="listbox">
      <input
        ref={field}
        // Dialogs and popovers focus it when they open, so that no keystroke is lost.
        autofocus
        type="text"
        role="combobox"
        aria-label={`Search ${props.label}`}
        aria-expanded="true"
        aria-controls={id}
        aria-autocomplete="list"
        aria-activedescendant={listed[at] ? `${id}-${at}` : undefined}
        autocomplete="off"
        spellcheck={false}
        placeholder={props.placeholder}
        value={query}
        onInput={(event) => {
          setQuery(event.currentTarget.value);
          setActive(0);
          props.typed?.(event.currentTarget.value);
        }}
        onKeyDown={onKeyDown}
      />
      <div
        class="options"
        role="listbox"
        id={id}
        ref={list}
        aria-label={props.label}
        aria-multiselectable={props.isMultiple}
      >
        {listed.map((option, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys go to the search field
          <div
            key={option.id}
            id={`${id}-${index}`}
            data-at={index}
            role="option"
            aria-selected={option.isSelected === true}
            class={index === at ? "option active" : "option"}
            onClick={() => choose(option)}
          >
            {option.content ?? option.text}
          </div>
        ))}
      </div>
      <p class="listbox-note" aria-live="polite">
        {listed.length === 0 ? "No matches." : ""}
        {matching.length > listed.length
          ? `${formatCount(matching.length - listed.length)} more; type to narrow the list.`
          : ""}
      </p>
    </div>
  );
}

/** The options that contain every word of the query. */
function search(options: readonly Option[], query: string): readonly Option[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return options;
  return options.filter((option) => {
    const text = option.text.slice(0, 2048).toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

function firstOfGroups(options: readonly Option[], most: number): readonly Option[] {
  const counts = new Map<string, number>();
  return options.filter(({ group = "" }) => {
    const count = (counts.get(group) ?? 0) + 1;
    counts.set(group, count);
    return count <= most;
  });
}

function step(key: string, at: number, length: number): number | null {
  switch (key) {
    case "ArrowDown":
      return Math.min(at + 1, length - 1);
    case "ArrowUp":
      return Math.max(at - 1, 0);
    case "PageDown":
      return Math.min(at + 10, length - 1);
    case "PageUp":
      return Math.max(at - 10, 0);
    default:
      return null;
  }
}
