/** What would free memory: findings of the server, each with the bytes and the share of the peak. */
import { type Json, number, text } from "../../api/json";
import { formatRatio } from "../../base/format";
import { ratio } from "../../base/units";
import { FindingList, readSeverity, type Severity } from "../text/finding_list";

type MemoryFinding = Readonly<ReturnType<typeof parseMemoryFinding>>;

export function parseMemoryFinding(json: Json) {
  return {
    id: text(json.id),
    severity: readSeverity(text(json.severity)),
    title: text(json.title),
    detail: text(json.detail),
    action: text(json.action),
    /** NaN if unknown, like the share. */
    bytes: number(json.bytes),
    share: number(json.share),
  };
}

interface MemoryFindingsProps {
  readonly findings: readonly MemoryFinding[];
  readonly opens?: readonly Severity[];
  /** Writes the bytes. */
  readonly amount: (bytes: number) => string;
}

export function MemoryFindings({ findings, opens, amount }: MemoryFindingsProps) {
  return (
    <FindingList
      opens={opens}
      findings={findings.map(({ id, severity, title, detail, action, bytes, share }, index) => ({
        id: `${id}.${index}`,
        severity,
        title: title.slice(0, 1000),
        gain: [amount(bytes), Number.isNaN(share) ? "" : formatRatio(ratio(share))]
          .filter(Boolean)
          .join(" · "),
        notes: "",
        detail: detail.slice(0, 4000),
        action: action.slice(0, 4000),
        links: null,
      }))}
    />
  );
}
