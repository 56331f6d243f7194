/** The lines of a program's text, which the server sends in parts. */
import { useEffect, useState } from "preact/hooks";
import { fields } from "../../api/json";
import type { Ask } from "../tool";
import { type ProgramGraph, parseLines } from "./payload";

interface TextLines {
  /** What is there so far, null at first. */
  readonly lines: readonly string[] | null;
  readonly isLoading: boolean;
  /** Why the others are missing, "" where they are not. */
  readonly error: string;
}

const NOTHING: TextLines = { lines: null, isLoading: true, error: "" };
/** More of a text than this no browser holds with ease: a hundred million characters. */
const MOST_PARTS = 90;

/** The first part is shown at once, the others together, since names are looked up in all lines. */
export function useLines(ask: Ask, { host, programId }: ProgramGraph): TextLines {
  const [state, setState] = useState<TextLines & { readonly key: string }>({ ...NOTHING, key: "" });
  const key = JSON.stringify([host, programId]);
  useEffect(() => {
    const abort = new AbortController();
    const place = { program_id: programId, program_host: host, type: "text" };
    (async () => {
      const lines: string[] = [];
      const show = (isLoading: boolean, error = "") => {
        if (!abort.signal.aborted) setState({ key, lines: [...lines], isLoading, error });
      };
      try {
        for (let part = 0; part < MOST_PARTS; part++) {
          const json = await ask({ ...place, first_line: String(lines.length) }, abort.signal);
          for (const line of parseLines(json)) lines.push(line);
          if (fields(json).next_line !== lines.length) return show(false);
          if (part === 0) show(true);
        }
        lines.push("// The rest is in the file: download the text.");
        show(false);
      } catch (thrown) {
        show(false, thrown instanceof Error ? thrown.message : String(thrown));
      }
    })();
    return () => abort.abort();
  }, [key]);
  return state.key === key ? state : NOTHING;
}
