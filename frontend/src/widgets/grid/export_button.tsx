/** "Export as CSV": saves what the table shows. */
import { saveFile } from "../../base/save";
import { tableCsv } from "../table/export";
import type { TableModel } from "../table/model";

export function ExportButton({ model, fileName }: { model: TableModel; fileName: string }) {
  const save = () =>
    saveFile(`${fileName}.csv`, new Blob([tableCsv(model)], { type: "text/csv;charset=utf-8" }));
  const isWhole = model.table.expected === undefined;
  return (
    <button
      type="button"
      class="button"
      title={
        isWhole
          ? "Saves the displayed rows and columns in full precision"
          : "The table is still loading"
      }
      disabled={!isWhole}
      onClick={save}
    >
      Export as CSV
    </button>
  );
}
