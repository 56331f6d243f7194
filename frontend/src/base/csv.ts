/** Tables as CSV and tab-separated text. */

/** RFC 4180; `rows` start with the header. */
export function toCsv(rows: Iterable<readonly Cell[]>): string {
  const lines: string[] = [];
  for (const row of rows) lines.push(row.map(csvCell).join(","));
  return `${lines.join("\r\n")}\r\n`;
}

/** Tab-separated, for pasting into spreadsheets and chats. */
export function toTsv(rows: Iterable<readonly Cell[]>): string {
  const lines: string[] = [];
  for (const row of rows) lines.push(row.map(tsvCell).join("\t"));
  return `${lines.join("\n")}\n`;
}

/** null: not measured. */
export type Cell = string | number | boolean | null;

function csvCell(cell: Cell): string {
  const text = plainText(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function tsvCell(cell: Cell): string {
  return plainText(cell).replace(/[\t\r\n]+/g, " ");
}

/** A text that a spreadsheet would evaluate as a formula gets a leading apostrophe. Source: OWASP. */
function plainText(cell: Cell): string {
  if (cell === null) return "";
  if (typeof cell === "boolean") return cell ? "yes" : "no";
  if (typeof cell === "number") return Number.isFinite(cell) ? String(cell) : "";
  return /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
}
