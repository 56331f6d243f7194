/** The detail of a row: its full name, and the values of all columns with their units. */
import type { ComponentChildren } from "preact";
import { NOT_MEASURED } from "../../base/format";
import { cut } from "../../base/names";
import { CopyButton } from "../controls/copy_button";
import { valueText } from "../table/columns";
import type { TableModel } from "../table/model";

interface RowDetailProps {
  readonly model: TableModel;
  /** In the payload. */
  readonly row: number;
  readonly nameId: string;
  readonly children?: ComponentChildren;
}

const MAX_NAME = 20_000;

export function RowDetail({ model, row, nameId, children }: RowDetailProps) {
  const column = model.columns.find((candidate) => candidate.id === nameId);
  const code = column?.data.kind === "text" ? column.data.codes[row] : -1;
  const raw = column?.data.kind === "text" && code >= 0 ? column.data.strings[code] : "";
  const readable = column?.names && code >= 0 ? column.names.readable(code) : raw;
  const others = model.columns.filter((candidate) => candidate !== column);
  return (
    <div class="detail">
      <div class="detail-name">
        <code title={cut(readable, MAX_NAME)}>{cut(readable, MAX_NAME)}</code>
        <CopyButton text={() => raw} label="Copy name" />
      </div>
      {readable !== raw && readable.length < MAX_NAME ? (
        <div class="detail-raw muted">
          <code title={cut(raw, MAX_NAME)}>{cut(raw, MAX_NAME)}</code>
        </div>
      ) : null}
      {children}
      <dl class="detail-list">
        {others.map((other) => (
          <div key={other.id}>
            <dt>{other.title}</dt>
            <dd>{valueText(other, row).replace(NOT_MEASURED, "not measured")}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
