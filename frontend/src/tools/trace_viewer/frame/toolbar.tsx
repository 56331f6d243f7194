/** The toolbar: drag tools, colors, filter, zoom, list, export and search. */
import { useRef } from "preact/hooks";
import { SmallButton } from "../../../widgets/controls/buttons";
import { Menu } from "../../../widgets/overlays/menu";
import type { TimelineModel } from "../model/model";
import { COLORS, type ColorBy, type PointerTool } from "../model/types";
import { clampView, fitView } from "../model/view/view_math";
import { type Page, withMargins } from "../page/page";
import { FilterMenu } from "../search/filter_menu";
import { SearchBox } from "../search/search_box";
import type { SearchResults } from "../search/search_results";

const TOOLS: readonly (readonly [tool: PointerTool, key: string, label: string, icon: string])[] = [
  [
    "select",
    "1",
    "Select: click an event, drag a box",
    "M3 2l9 7-4 .6L10.4 14l-1.8.8-2.3-4.5L3.5 13z",
  ],
  [
    "pan",
    "2",
    "Pan: drag the timeline",
    "M8 1l2.5 3h-1.8v3.3H12V5.5L15 8l-3 2.5V8.7H8.7V12h1.8L8 15l-2.5-3h1.8V8.7H4v1.8L1 8l3-2.5v1.8h3.3V4H5.5z",
  ],
  [
    "zoom",
    "3",
    "Zoom: drag up and down, or across a range",
    "M7 2a5 5 0 013.9 8.1L14.5 13.7l-.9.9-3.6-3.6A5 5 0 117 2zm0 1.4a3.6 3.6 0 100 7.2 3.6 3.6 0 000-7.2zM6.400 5h1.200v1.4H9v1.200H7.600V9H6.400V7.600H5V6.400h1.4z",
  ],
  [
    "timing",
    "4",
    "Timing: drag a ruler, which snaps to edges",
    "M2 2h1.4v12H2zM12.6 2H14v12h-1.4zM4.5 8l2.3-2.3v1.6h2.4V5.7L11.5 8l-2.3 2.3V8.7H6.8v1.6z",
  ],
];

const COLOR_LABELS: Readonly<Record<ColorBy, string>> = {
  name: "Name: one color for each name",
  category: "Category",
  step: "Step: one color for each step",
  group: "Group: compute, copies, input, …",
};

export function Toolbar({ page, hits }: { page: Page; hits: SearchResults }) {
  const { model } = page;
  const color = model.color.value;
  return (
    <div class="trace-bar" role="toolbar" aria-label="Trace viewer">
      <ToolPalette model={model} />
      <Menu
        label={
          <>
            Color: <b>{COLOR_LABELS[color].split(":")[0].toLowerCase()}</b>{" "}
            <span aria-hidden="true">▾</span>
          </>
        }
        title={`Color: ${color}`}
        buttonClass="button small"
        width={260}
        items={COLORS.map((name) => ({
          label: COLOR_LABELS[name],
          isChecked: name === color,
          run: () => {
            model.color.value = name;
          },
        }))}
      />
      <FilterMenu model={model} />
      <span class="joined">
        <SmallButton
          title="Zoom to the whole trace (0)"
          onClick={() => {
            model.view.value = clampView(
              withMargins(model.extent.peek(), 0.01),
              model.extent.peek(),
            );
          }}
        >
          All
        </SmallButton>
        <SmallButton
          title="Zoom to the selection (F)"
          aria-disabled={model.selection.value === null && model.range.value === null}
          onClick={() => fitSelection(model)}
        >
          Fit
        </SmallButton>
      </span>
      <SmallButton
        aria-pressed={page.isList.value}
        title="Show the events of one track as a table, for keyboards and screen readers"
        onClick={() => {
          page.isList.value = !page.isList.value;
        }}
      >
        List
      </SmallButton>
      <ExportMenu page={page} />
      <span class="space" />
      <SearchBox page={page} hits={hits} />
    </div>
  );
}

function ToolPalette({ model }: { model: TimelineModel }) {
  const group = useRef<HTMLDivElement>(null);
  const current = model.tool.value;
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const index = TOOLS.findIndex(([tool]) => tool === current);
    const next = (index + step + TOOLS.length) % TOOLS.length;
    model.tool.value = TOOLS[next][0];
    group.current?.querySelectorAll("button")[next]?.focus();
  };
  return (
    <div
      class="joined trace-tools"
      ref={group}
      role="radiogroup"
      aria-label="Tool"
      onKeyDown={onKeyDown}
    >
      {TOOLS.map(([tool, key, label, icon]) => (
        <button
          key={tool}
          type="button"
          role="radio"
          aria-checked={tool === current}
          aria-label={label.split(":")[0]}
          aria-keyshortcuts={key}
          tabIndex={tool === current ? 0 : -1}
          title={`${label} (${key})`}
          onClick={() => {
            model.tool.value = tool;
          }}
        >
          <svg viewBox="0 0 16 16" aria-hidden="true">
            <path d={icon} />
          </svg>
        </button>
      ))}
    </div>
  );
}

function fitSelection(model: TimelineModel): void {
  const selection = model.selection.peek();
  const range = model.range.peek();
  const host = selection && model.hosts.peek()[selection.host];
  const place = selection?.place;
  const from = place && host ? place.startPs + host.offsetPs : null;
  const span = from !== null && place ? { from, to: from + place.durationPs } : range;
  if (span) model.view.value = fitView(span, model.extent.peek());
}

/** Exports the trace, or the part in view, for other programs. */
function ExportMenu({ page }: { page: Page }) {
  const { model, run } = page;
  const hosts = model.hosts.value;
  const save = (isWhole: boolean) => {
    const parameters = new URLSearchParams({ run, tag: "trace_viewer" });
    for (const { host } of hosts) parameters.append(hosts.length === 1 ? "host" : "hosts", host);
    if (!isWhole) {
      const start = model.zero.peek();
      const { from, to } = model.view.peek();
      parameters.set("start_time_ms", String(Math.max(from - start, 0) / 1e9));
      parameters.set("end_time_ms", String((to - start) / 1e9));
    }
    const link = document.createElement("a");
    link.href = `data?${parameters}`;
    link.download = `${run}_trace.json`.replace(/[\\/:*?"<>|\s]+/g, "_");
    link.click();
  };
  return (
    <Menu
      label={
        <>
          Export <span aria-hidden="true">▾</span>
        </>
      }
      title="Export for Perfetto and chrome://tracing"
      buttonClass="button small"
      width={240}
      items={[
        { label: "Whole trace (Chrome JSON)", run: () => save(true) },
        { label: "Current view (Chrome JSON)", run: () => save(false) },
      ]}
    />
  );
}
