/** The toolbar of a table: count, grouping, filters, columns, density, copy. */
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { formatCount, plural } from "../../base/format";
import { bindKeys } from "../../base/keys";
import { LinkButton, SmallButton } from "../controls/buttons";
import { CopyButton } from "../controls/copy_button";
import { Menu } from "../overlays/menu";
import { Popover } from "../overlays/popover";
import { tableText } from "../table/export";
import {
  chooseGrouping,
  clearFilters,
  countText,
  showColumn,
  type TableModel,
} from "../table/model";

export function TableBar({ model }: { model: TableModel }) {
  const { select, isFilterRowOpen, isDense } = model;
  const toggleFilters = () => {
    if (isFilterRowOpen) clearFilters(model);
    select({ filters: isFilterRowOpen ? null : "1" });
  };
  // A layout effect: a frame later, something else may have taken the focus.
  const isFilterAsked = useRef(false);
  useLayoutEffect(() => {
    if (isFilterRowOpen && isFilterAsked.current) focusFirstFilter();
    isFilterAsked.current = false;
  }, [isFilterRowOpen]);
  useEffect(
    () =>
      bindKeys([
        {
          keys: ["f"],
          label: "Filter the table",
          section: "Page",
          run: () => {
            isFilterAsked.current = !focusFirstFilter();
            select({ filters: "1" });
          },
        },
        {
          keys: ["d"],
          label: "Toggle dense rows",
          section: "Page",
          run: () => select({ rows: isDense ? null : "dense" }),
        },
      ]),
    [select, isDense],
  );
  return (
    <div class="table-bar">
      <span class="table-count" role="status">
        {countText(model)}
        {groupText(model)}
        {missingText(model)}
      </span>
      <GroupMenu model={model} />
      <SmallButton aria-pressed={isFilterRowOpen} onClick={toggleFilters}>
        Filter <kbd>f</kbd>
      </SmallButton>
      {model.hasFilters ? (
        <LinkButton onClick={() => clearFilters(model)}>Clear filters</LinkButton>
      ) : null}
      <span class="space" />
      <ColumnChooser model={model} />
      <SmallButton
        aria-pressed={isDense}
        onClick={() => select({ rows: isDense ? null : "dense" })}
      >
        Dense
      </SmallButton>
      <CopyButton
        text={() => tableText(model)}
        label="Copy table"
        title="Copy table as text, as shown"
      />
    </div>
  );
}

function GroupMenu({ model }: { model: TableModel }) {
  const none = {
    label: "None",
    isChecked: model.grouping === null,
    run: () => chooseGrouping(model, null),
  };
  const items = model.groupings.map((grouping) => ({
    label: grouping.label,
    isChecked: model.grouping === grouping,
    run: () => chooseGrouping(model, grouping),
  }));
  const current = model.grouping?.label ?? "None";
  return (
    <Menu
      label={
        <>
          Group by: <b>{current}</b> ▾
        </>
      }
      title={`Group by: ${current}`}
      buttonClass="button small"
      items={[none, ...items]}
    />
  );
}

function ColumnChooser({ model }: { model: TableModel }) {
  return (
    <Popover
      label="Columns ▾"
      title="Columns"
      buttonClass="button small"
      panelLabel="Displayed columns"
      width={280}
    >
      {() => (
        <fieldset class="chooser">
          <legend>Columns</legend>
          {model.shown.map((column) => (
            <label key={column.id}>
              <input
                type="checkbox"
                checked={model.visible.includes(column)}
                disabled={column.isName === true && column.isSticky === true}
                onChange={(event) => showColumn(model, column.id, event.currentTarget.checked)}
              />
              {column.title}
            </label>
          ))}
          <SmallButton onClick={() => model.select({ cols: null })}>Default columns</SmallButton>
        </fieldset>
      )}
    </Popover>
  );
}

function groupText({ groups }: TableModel): string {
  return groups ? ` in ${plural(groups.length, "group")}` : "";
}

/** How many rows are on their way. */
function missingText({ table }: TableModel): string {
  const missing = (table.expected ?? table.length) - table.length;
  return missing > 0 ? ` · loading ${formatCount(missing)} more…` : "";
}

/** Focuses the first filter field, if any, and returns whether there is one. */
function focusFirstFilter(): boolean {
  const fields = [...document.querySelectorAll<HTMLInputElement>(".filter-cell input")];
  const field = fields.find((candidate) => candidate.placeholder.includes("regex")) ?? fields[0];
  field?.focus();
  return field !== undefined;
}
