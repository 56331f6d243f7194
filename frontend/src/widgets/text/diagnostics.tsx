/** Notes about steps and the recording that affect how the figures of a page are read. */
import { type DataTable, readRows } from "../../api/data_table";
import { sentence } from "../../base/format";
import { Card } from "./card";
import { Sentence } from "./sentence";

interface Diagnostic {
  /** "INFO", "WARNING" or "ERROR". */
  readonly severity: string;
  readonly message: string;
}

export function readDiagnostics(table: DataTable): Diagnostic[] {
  return readRows(table, (row) => ({
    severity: row.text("severity"),
    message: row.text("message"),
  })).filter(({ message }) => message !== "");
}

/** The maximum number of notes. */
const MOST = 50;
const SIGNS: Readonly<Record<string, string>> = { ERROR: "✕", WARNING: "⚠", INFO: "ℹ" };

export function Diagnostics({ diagnostics }: { diagnostics: readonly Diagnostic[] }) {
  if (diagnostics.length === 0) return null;
  return (
    <Card class="facts" title="About this trace">
      <ul class="plain diagnostics">
        {diagnostics.slice(0, MOST).map(({ severity, message }, index) => (
          <li key={index}>
            <span class="diagnostic-sign" title={severity.toLowerCase()}>
              <span aria-hidden="true">{SIGNS[severity] ?? "•"}</span>
              <span class="unseen">{severity.toLowerCase()}: </span>
            </span>
            <span>
              <Sentence text={sentence(message)} />
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
