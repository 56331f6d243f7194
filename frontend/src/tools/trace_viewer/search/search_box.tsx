/** Search over all events: counts and highlights the hits, and steps through them. */
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { describeProblem } from "../../../api/errors";
import { formatCount } from "../../../base/format";
import { SmallButton } from "../../../widgets/controls/buttons";
import type { DrawerTab } from "../page/address";
import type { Page } from "../page/page";
import { goTo } from "../page/selection/reveal";
import { choose } from "../page/selection/selected_event";
import type { Search } from "../protocol/questions";
import { PatternToggles } from "./filter_menu";
import type { SearchResults } from "./search_results";

const TYPING_MS = 200;

export function SearchBox({ page, hits }: { page: Page; hits: SearchResults }) {
  const { model } = page;
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const search = model.search.value;
  const [text, setText] = useState(search?.text ?? "");
  const [isRegex, setRegex] = useState(search?.isRegex ?? false);
  const [isCase, setCase] = useState(search?.isCase ?? false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const last = useRef(Promise.resolve());
  const { error, count, isLoading } = hits.state.value;
  const problem = error === null ? "" : describeProblem(error).message;

  const own = useRef(search);
  // The search was changed from elsewhere: a link, "show all", the address. After one of its own
  // more may have been typed already.
  useEffect(() => {
    if (model.search.peek() === own.current) return;
    own.current = search;
    clearTimeout(timer.current);
    setText(search?.text ?? "");
    if (search) {
      setRegex(search.isRegex);
      setCase(search.isCase);
    }
  }, [search]);
  // Immediately, so that what is typed after the key goes here.
  useEffect(
    () =>
      model.searchAsked.subscribe((times) => {
        if (times === 0) return;
        field.current?.focus();
        field.current?.select();
      }),
    [model],
  );
  useEffect(() => () => clearTimeout(timer.current), []);

  const ask = (next: Search | null) => {
    own.current = next;
    model.search.value = next;
  };
  const commit = (next: Search) => {
    clearTimeout(timer.current);
    const before = model.search.peek();
    const isSame =
      before?.text === next.text &&
      before.isRegex === next.isRegex &&
      before.isCase === next.isCase;
    if (isSame) return;
    ask(next.text === "" ? null : next);
  };
  const type = (next: Search) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => commit(next), TYPING_MS);
  };
  const go = async (direction: 1 | -1, tabBefore: DrawerTab | null) => {
    const hit = await hits.near(direction);
    if (!hit) return;
    // The list of hits stays open, and so does a tab that was opened meanwhile.
    const isTabKept = tabBefore === "hits" || page.tab.peek() !== tabBefore;
    if (isTabKept) choose(page, hit, hit, true);
    else goTo(model, hit, hit, true);
  };
  // Each move starts from the hit that the previous one reached.
  const goOn = (direction: 1 | -1) => {
    const tab = page.tab.peek();
    const run = () => go(direction, tab);
    last.current = last.current.then(run, run);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter") {
      event.preventDefault();
      commit({ text, isRegex, isCase });
      goOn(event.shiftKey ? -1 : 1);
    } else if (event.key === "Escape") {
      event.preventDefault();
      if (text === "") field.current?.blur();
      else clear();
    }
  };
  const clear = () => {
    clearTimeout(timer.current);
    setText("");
    ask(null);
  };
  const inView = hits.inView.value;
  // While the text is being changed, the previous results do not match the field.
  const isTyped =
    text !== (search?.text ?? "") ||
    (search !== null && (isRegex !== search.isRegex || isCase !== search.isCase));
  const said =
    text === "" || problem !== ""
      ? ""
      : isTyped || (isLoading && count === 0)
        ? "searching"
        : count === 0
          ? "no hits"
          : `${formatCount(count)} ${count === 1 ? "hit" : "hits"}${
              inView === null ? "" : ` · ${formatCount(inView)} in view`
            }`;
  return (
    <div class="trace-search" role="search">
      <div class="trace-field">
        <input
          ref={field}
          type="text"
          autocomplete="off"
          spellcheck={false}
          placeholder="Search events"
          aria-label="Search events"
          aria-keyshortcuts="/"
          aria-invalid={problem !== ""}
          aria-describedby={problem === "" ? undefined : `${id}-error`}
          title="Search events (/). Enter zooms to the next hit, Shift Enter to the previous one"
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value);
            type({ text: event.currentTarget.value, isRegex, isCase });
          }}
          onKeyDown={onKeyDown}
        />
        {text === "" ? (
          <span class="trace-key" aria-hidden="true">
            /
          </span>
        ) : null}
        {text === "" ? null : (
          <button
            type="button"
            class="bare trace-clear"
            aria-label="Clear the search"
            title="Clear the search (Escape)"
            onClick={() => {
              clear();
              field.current?.focus();
            }}
          >
            ✕
          </button>
        )}
        <PatternToggles
          isRegex={isRegex}
          isCase={isCase}
          setRegex={(isOn) => {
            setRegex(isOn);
            commit({ text, isRegex: isOn, isCase });
          }}
          setCase={(isOn) => {
            setCase(isOn);
            commit({ text, isRegex, isCase: isOn });
          }}
        />
      </div>
      <button
        type="button"
        class="trace-count link"
        aria-live="polite"
        title="List the hits"
        hidden={said === ""}
        onClick={() => {
          page.tab.value = "hits";
        }}
      >
        {said}
      </button>
      <span class="joined" hidden={count === 0 || isTyped}>
        <SmallButton
          aria-label="Previous hit"
          title="Previous hit (Shift Enter)"
          onClick={() => goOn(-1)}
        >
          ◂
        </SmallButton>
        <SmallButton aria-label="Next hit" title="Next hit (Enter)" onClick={() => goOn(1)}>
          ▸
        </SmallButton>
      </span>
      {problem === "" ? null : (
        <p class="trace-error trace-search-error" id={`${id}-error`} role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}
