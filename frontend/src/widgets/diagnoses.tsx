/** The findings of the server's doctor: why something is empty, and what to do about it. */
import { useEffect, useState } from "preact/hooks";
import { getJson } from "../api/client";
import { type Json, records, text } from "../api/json";

type Diagnosis = Readonly<ReturnType<typeof parseDiagnosis>>;

const SIGNS: Readonly<Record<string, string>> = { good: "✓", note: "!", bad: "✗" };

interface DiagnosesProps {
  /** The run to diagnose; "" for the whole logdir. */
  readonly run: string;
  /** Texts that the page shows already; diagnoses that repeat them are left out. */
  readonly said?: readonly string[];
}

export function Diagnoses({ run, said = [] }: DiagnosesProps) {
  const [diagnoses, setDiagnoses] = useState<readonly Diagnosis[] | null>(null);
  useEffect(() => {
    const abort = new AbortController();
    getJson("doctor", run === "" ? [] : [["run", run]], abort.signal).then(
      (answer) => setDiagnoses(records(answer).map(parseDiagnosis)),
      () => undefined, // the page has an explanation of its own
    );
    return () => abort.abort();
  }, [run]);
  const news = diagnoses?.filter((diagnosis) => !said.includes(diagnosis.text)) ?? [];
  if (news.length === 0) return null;
  return (
    <details class="diagnoses" open={news.some((diagnosis) => diagnosis.kind === "bad")}>
      <summary>What was checked</summary>
      <ul class="plain" aria-label="What was checked">
        {news.map((diagnosis, index) => (
          <li key={index} class={diagnosis.kind === "bad" ? "bad" : ""}>
            <span aria-hidden="true">{SIGNS[diagnosis.kind] ?? "·"}</span> <b>{diagnosis.about}</b>:{" "}
            {diagnosis.text}
            {diagnosis.fix === "" ? null : <div class="muted">{diagnosis.fix}</div>}
          </li>
        ))}
      </ul>
    </details>
  );
}

function parseDiagnosis(json: Json) {
  return {
    kind: text(json.kind),
    about: text(json.about),
    text: text(json.text),
    fix: text(json.fix),
  };
}
