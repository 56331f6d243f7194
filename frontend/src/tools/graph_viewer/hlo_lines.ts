/** HLO text by lines, with the names in it and their definitions. */

/** A part of a line; with `name` if it is the name of an instruction or computation. */
export interface LinePiece {
  readonly text: string;
  readonly name?: string;
}

/** Longer lines are truncated on the page: they may contain the code of kernels. */
const MOST = 4000;
/** Matches names such as "%fusion.3", and definitions at the start of lines. */
const NAME = /%([A-Za-z_][\w.-]{0,199})/g;
const DEFINED = /^\s*(?:ROOT |ENTRY )?%([A-Za-z_][\w.-]{0,199}) /;

/** The defining line of each name. */
export function definitionsOf(lines: readonly string[]): ReadonlyMap<string, number> {
  const definitions = new Map<string, number>();
  lines.forEach((line, index) => {
    const [, name] = DEFINED.exec(line.slice(0, 300)) ?? [];
    if (name && !definitions.has(name)) definitions.set(name, index);
  });
  return definitions;
}

/** Splits a line into pieces; only defined names count as names. */
export function piecesOf(line: string, definitions: ReadonlyMap<string, number>): LinePiece[] {
  const shown = line.length > MOST ? `${line.slice(0, MOST)}…` : line;
  const pieces: LinePiece[] = [];
  let end = 0;
  for (const match of shown.matchAll(NAME)) {
    const [whole, name] = match;
    if (!definitions.has(name)) continue;
    if (match.index > end) pieces.push({ text: shown.slice(end, match.index) });
    pieces.push({ text: whole, name });
    end = match.index + whole.length;
  }
  if (end < shown.length) pieces.push({ text: shown.slice(end) });
  return pieces;
}

/** The lines that contain a text, ignoring case. */
export function searchLines(lines: readonly string[], query: string): number[] {
  const wanted = query.toLowerCase();
  if (wanted === "") return [];
  return lines.flatMap((line, index) => (line.toLowerCase().includes(wanted) ? [index] : []));
}
