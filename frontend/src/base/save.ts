/** Saves files and copies to the clipboard. */
import { type Cell, toCsv } from "./csv";

/** Offers `content` as a download named `name`. */
export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = fileName(name);
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Offers a table as a CSV file; `rows` start with the header, `name` has no ending. */
export function saveCsv(name: string, rows: Iterable<readonly Cell[]>): void {
  saveFile(`${name}.csv`, new Blob([toCsv(rows)], { type: "text/csv" }));
}

/** Copies `text` and returns whether that worked. Pages on plain http have no clipboard API. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

function copyBySelection(text: string): boolean {
  const area = document.createElement("textarea");
  area.value = text;
  area.style.position = "fixed";
  area.style.opacity = "0";
  const focused = document.activeElement;
  const parent = document.querySelector("dialog[open]") ?? document.body;
  parent.append(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return copied;
}

function fileName(text: string): string {
  return text.replace(/[\\/:*?"<>|\s\p{Cc}]+/gu, "_").slice(0, 200);
}
