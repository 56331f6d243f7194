/** The HLO text of the program, with search, and links from names to their definitions. */
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { formatCount, plural } from "../../base/format";
import { SmallButton } from "../../widgets/controls/buttons";
import { Card } from "../../widgets/text/card";
import type { PageProps } from "../tool";
import { definitionsOf, piecesOf, searchLines } from "./hlo_lines";
import type { ProgramGraph } from "./payload";
import { useLines } from "./use_lines";

interface TextCardProps extends PageProps<ProgramGraph> {
  readonly graph: ProgramGraph;
  readonly center: (name: string) => void;
}

const ROW = 18;
const OVERSCAN = 20;
/** The largest height of a box that browsers support. */
const HIGHEST = 8_000_000;

export function TextCard(props: TextCardProps) {
  const { graph, center, view, select } = props;
  const { lines, isLoading, error } = useLines(props.ask, graph);
  const definitions = useMemo(() => definitionsOf(lines ?? []), [lines]);
  const [query, setQuery] = useState("");
  const matches = useMemo(() => searchLines(lines ?? [], query), [lines, query]);
  const asked = Number(view.line ?? Number.NaN);
  const start = Number.isNaN(asked) ? (definitions.get(graph.centerName) ?? 0) : asked - 1;
  const [at, setAt] = useState(-1);
  const marked = at >= 0 ? (matches[at] ?? -1) : start;
  const goTo = (name: string) => {
    const line = definitions.get(name);
    if (line === undefined) return;
    setAt(-1);
    select({ line: String(line + 1) });
  };
  const next = (by: 1 | -1) => {
    if (matches.length > 0) setAt((before) => (before + by + matches.length) % matches.length);
  };
  return (
    <Card
      class="graph-text"
      title="HLO text"
      isBusy={isLoading}
      head={
        <>
          <span class="muted">
            {lines ? plural(lines.length, "line") : ""}
            {lines && isLoading ? ", loading more…" : ""} · click a name to go to its definition,
            Ctrl-click to center the graph on it
          </span>
          <span class="space" />
          <input
            type="search"
            class="graph-text-search"
            aria-label="Search the text"
            placeholder="Search the text"
            value={query}
            onInput={(event) => {
              setQuery(event.currentTarget.value);
              setAt(event.currentTarget.value === "" ? -1 : 0);
            }}
            onKeyDown={(event) => {
              if (event.key !== "Enter") return;
              event.preventDefault();
              next(event.shiftKey ? -1 : 1);
            }}
          />
          <span class="muted graph-text-count" role="status">
            {query === ""
              ? ""
              : matches.length === 0
                ? "not found"
                : `${formatCount(Math.max(at, 0) + 1)} of ${plural(matches.length, "line")}`}
          </span>
          <SmallButton aria-label="Previous" onClick={() => next(-1)}>
            ◂
          </SmallButton>
          <SmallButton aria-label="Next" onClick={() => next(1)}>
            ▸
          </SmallButton>
        </>
      }
    >
      {error !== "" ? (
        <p role="alert">⚠ {error.slice(0, 300)}</p>
      ) : lines === null ? (
        <p class="muted">Loading…</p>
      ) : (
        <Lines
          lines={lines}
          definitions={definitions}
          marked={marked}
          goTo={goTo}
          center={center}
        />
      )}
    </Card>
  );
}

interface LinesProps {
  readonly lines: readonly string[];
  readonly definitions: ReadonlyMap<string, number>;
  /** The marked line, which is scrolled into view. */
  readonly marked: number;
  readonly goTo: (name: string) => void;
  readonly center: (name: string) => void;
}

/** Virtualized: only visible lines exist. */
function Lines({ lines, definitions, marked, goTo, center }: LinesProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const [place, setPlace] = useState({ top: 0, height: 600 });
  const height = Math.min(lines.length * ROW, HIGHEST);
  // If all lines together exceed the maximum height, each scrolled pixel stands for several.
  const scale = (lines.length * ROW) / Math.max(height, 1);
  const first = Math.max(Math.floor((place.top * scale) / ROW) - OVERSCAN, 0);
  const last = Math.min(first + Math.ceil(place.height / ROW) + 2 * OVERSCAN, lines.length);
  const known = useRef({ marked: -1, lines: 0 });
  useLayoutEffect(() => {
    const element = scroller.current;
    // More lines below leave what is in view where it is.
    const isThere = known.current.marked === marked && marked < known.current.lines;
    known.current = { marked, lines: lines.length };
    if (!element || isThere) return;
    element.scrollTop = Math.max((marked * ROW) / scale - element.clientHeight / 3, 0);
    setPlace({ top: element.scrollTop, height: element.clientHeight });
  }, [marked, lines]);
  return (
    <section
      class="graph-lines"
      ref={scroller}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled by keyboard
      tabIndex={0}
      aria-label="Lines of HLO"
      onScroll={({ currentTarget: { scrollTop, clientHeight } }) =>
        setPlace({ top: scrollTop, height: clientHeight })
      }
    >
      <div class="graph-lines-body" style={{ height: `${height}px` }}>
        <div
          class="graph-lines-shown"
          style={{ transform: `translateY(${first * ROW - place.top * (scale - 1)}px)` }}
        >
          {lines.slice(first, last).map((line, index) => {
            const at = first + index;
            return (
              <div key={at} class={at === marked ? "graph-line marked" : "graph-line"}>
                <span class="graph-line-number" aria-hidden="true">
                  {at + 1}
                </span>
                <code>
                  {piecesOf(line, definitions).map(({ text, name }, piece) =>
                    name === undefined ? (
                      text
                    ) : (
                      <button
                        key={piece}
                        type="button"
                        class="bare graph-name"
                        onClick={(event) =>
                          event.ctrlKey || event.metaKey ? center(name) : goTo(name)
                        }
                      >
                        {text}
                      </button>
                    ),
                  )}
                </code>
              </div>
            );
          })}
        </div>
      </div>
    </section>
  );
}
