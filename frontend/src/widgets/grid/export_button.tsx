/** "Export as CSV": what the table shows, as a file. */
import { saveFile } from "../../base/save";
import { tableCsv } from "../table/export";
import type { TableModel } from "../table/model";

export function ExportButton({ model, fileName }: { model: TableModel; fileName: string }) {
  const save = () =>
    saveFile(`${fileName}.csv`, new Blob([tableCsv(model)], { type: "text/csv;charset=utf-8" }));
  return (
    <button
      type="button"
      class="button"
      title="The rows and columns that the table shows, in full precision"
      onClick={save}
    >
      Export as CSV
    </button>
  );
}
