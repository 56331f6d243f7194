/** The head of the track tree: the track filter, hidden tracks, and a menu. */
import { plural } from "../../../base/format";
import { Menu } from "../../../widgets/overlays/menu";
import { Popover } from "../../../widgets/overlays/popover";
import type { Page } from "../page/page";
import { fold, nameOf, patchArrangement, unhide } from "./arrange";

const MOST_LISTED = 200;

export function LaneHead({ page }: { page: Page }) {
  const { model } = page;
  const { trackFilter, hidden, isIdleShown } = model.arrangement.value;
  const groups = model.groups.value;
  const sections = groups.flatMap((group) => group.sections.map((section) => section.key));
  const keys = groups.length > 1 ? groups.map((group) => group.key) : sections;
  return (
    <div class="trace-lane-head">
      <input
        type="text"
        autocomplete="off"
        spellcheck={false}
        placeholder="Filter tracks"
        aria-label="Filter tracks by name"
        value={trackFilter}
        onInput={(event) =>
          patchArrangement(model, { trackFilter: event.currentTarget.value.slice(0, 200) })
        }
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          event.preventDefault();
          patchArrangement(model, { trackFilter: "" });
          event.currentTarget.blur();
        }}
      />
      {hidden.size > 0 ? (
        <Popover
          label={`${hidden.size} hidden`}
          title={`${plural(hidden.size, "hidden track")}: show again`}
          panelLabel="Hidden tracks"
          buttonClass="link trace-hidden"
          width={320}
        >
          {(close) => (
            <div class="menu">
              <button
                type="button"
                onClick={() => {
                  close();
                  unhide(model, [...hidden]);
                }}
              >
                <span class="menu-mark" />
                <b>Show all</b>
              </button>
              {[...hidden].slice(0, MOST_LISTED).map((key) => (
                <button
                  type="button"
                  key={key}
                  onClick={() => {
                    if (hidden.size === 1) close();
                    unhide(model, [key]);
                  }}
                >
                  <span class="menu-mark">+</span>
                  {(nameOf(groups, key) ?? key).slice(0, 120)}
                </button>
              ))}
            </div>
          )}
        </Popover>
      ) : null}
      <Menu
        label="⋮"
        title="All tracks"
        buttonClass="icon trace-lane-menu"
        width={240}
        items={[
          { label: "Collapse all", run: () => fold(model, keys, true) },
          {
            label: "Fold tracks without events here",
            isChecked: !isIdleShown,
            run: () => patchArrangement(model, { isIdleShown: !isIdleShown }),
          },
          { label: "Expand all", run: () => fold(model, [...keys, ...sections], false) },
          {
            label: "Reset layout",
            run: () =>
              patchArrangement(model, {
                hidden: new Set(),
                pinned: page.launchers.peek(),
                order: [],
                trackFilter: "",
              }),
          },
        ]}
      />
    </div>
  );
}
