/** What the server's doctor found: why something is empty, and the way out. */
import { useEffect, useState } from "preact/hooks";
import { getJson } from "../api/client";
import { isRecord } from "../api/types";

interface Diagnosis {
  readonly kind: string;
  readonly about: string;
  readonly text: string;
  readonly fix: string;
}

const SIGNS: Readonly<Record<string, string>> = { good: "✓", note: "!", bad: "✗" };

interface DiagnosesProps {
  /** Of that run alone; "": of the logdir. */
  readonly run: string;
  /** What the page says itself. */
  readonly said?: readonly string[];
}

export function Diagnoses({ run, said = [] }: DiagnosesProps) {
  const [found, setFound] = useState<readonly Diagnosis[] | null>(null);
  useEffect(() => {
    const abort = new AbortController();
    getJson("doctor", run === "" ? [] : [["run", run]], abort.signal).then(
      (answer) => setFound(parseDiagnoses(answer)),
      () => undefined, // the page says already what it knows
    );
    return () => abort.abort();
  }, [run]);
  const news = found?.filter((one) => !said.includes(one.text)) ?? [];
  if (news.length === 0) return null;
  return (
    <details class="diagnoses" open={news.some((one) => one.kind === "bad")}>
      <summary>What was looked at</summary>
      <ul aria-label="What was looked at">
        {news.map((one, at) => (
          <li key={at} class={one.kind === "bad" ? "bad" : ""}>
            <span aria-hidden="true">{SIGNS[one.kind] ?? "·"}</span> <b>{one.about}</b>: {one.text}
            {one.fix === "" ? null : <div class="muted">{one.fix}</div>}
          </li>
        ))}
      </ul>
    </details>
  );
}

function parseDiagnoses(json: unknown): Diagnosis[] {
  const text = (value: unknown) => (typeof value === "string" ? value : "");
  return (Array.isArray(json) ? json : []).filter(isRecord).map((one) => ({
    kind: text(one.kind),
    about: text(one.about),
    text: text(one.text),
    fix: text(one.fix),
  }));
}
