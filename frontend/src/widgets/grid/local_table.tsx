/** A chart's data as a table. Its state is local, not part of the address. */
import { useState } from "preact/hooks";
import type { DataTable } from "../../api/data_table";
import { patchView, type View } from "../../base/url_state";
import type { ColumnSpec } from "../table/columns";
import { useTableModel } from "../table/model";
import { Grid } from "./grid";

interface LocalTableProps {
  readonly label: string;
  readonly table: DataTable;
  readonly specs: readonly ColumnSpec[];
  readonly rankBy: string;
  readonly noun: string;
  readonly height: number;
  readonly toTimeline?: (row: number) => void;
}

export function LocalTable(props: LocalTableProps) {
  const { label, table, specs, rankBy, noun, height, toTimeline } = props;
  const [view, setView] = useState<View>({});
  const model = useTableModel({
    table,
    specs,
    groupings: [],
    rankBy,
    noun,
    view,
    select: (patch) => setView((before) => patchView(before, patch)),
  });
  return (
    <div class="step-table" style={{ height: `${height}px` }}>
      <Grid model={model} label={label} detail={() => null} toTimeline={toTimeline} />
    </div>
  );
}
