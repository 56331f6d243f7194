/** The details of the selected node, with links to other pages. */
import { useEffect, useState } from "preact/hooks";
import { describeProblem } from "../../api/errors";
import { fields, text } from "../../api/json";
import { formatBytes, formatCount, formatPrefixed, plural } from "../../base/format";
import { cut, readableName } from "../../base/names";
import { bytes } from "../../base/units";
import type { View } from "../../base/url_state";
import { CopyButton } from "../../widgets/controls/copy_button";
import { Card } from "../../widgets/text/card";
import { type Definition, DefinitionList } from "../../widgets/text/definition_list";
import { ErrorMessage } from "../../widgets/text/message";
import { TableHead } from "../../widgets/text/table_head";
import { ToolLink } from "../links/tool_link";
import { TraceLink } from "../links/trace_link";
import type { Ask, Links } from "../tool";
import { executionsOf, GRAPH, instructionView, KERNELS, kernelRows, MEMORY } from "./op_links";
import {
  type OpDetails,
  type PeakRate,
  type Profile,
  parseDetails,
  peakOf,
  textOf,
} from "./payload";
import { WASTED } from "./summary_line";
import { formatPicoseconds, formatShare, shareOfAll } from "./tree/node_facts";
import type { OpTree } from "./tree/op_tree";

interface DetailsProps {
  readonly profile: Profile;
  readonly tree: OpTree;
  /** -1 for none. */
  readonly node: number;
  readonly ask: Ask;
  readonly links: Links;
  /** Loads the remaining instructions. */
  readonly loadAll: () => void;
  readonly isLoading: boolean;
}

const LONGEST_NAME = 400;

export function Details({ profile, tree, node, ask, links, loadAll, isLoading }: DetailsProps) {
  if (node < 0)
    return (
      <Card title="Details" class="program-details">
        <p class="muted">Select an op in the chart or in the table.</p>
      </Card>
    );
  const place = tree.place[node];
  const kind = tree.kind[node];
  const isOp = (kind === "op" || kind === "kernel") && profile.rows.row[place] >= 0;
  return (
    <Card title={TITLES[kind]} class="program-details">
      <div class="program-name">
        <code title={cut(tree.label[node], LONGEST_NAME)}>
          {cut(kind === "kernel" ? readableName(tree.label[node]) : tree.label[node], LONGEST_NAME)}
        </code>
        <CopyButton text={() => tree.label[node]} label="Copy name" />
      </div>
      {isOp ? (
        <OpFacts {...{ profile, tree, node, ask, links }} key={place} />
      ) : (
        <DefinitionList items={sums(tree, node)} />
      )}
      {kind === "rest" && place >= 0 && profile.rows.row[place] < 0 ? (
        <button type="button" class="button" disabled={isLoading} onClick={loadAll}>
          {isLoading ? "Loading…" : `Load all ${formatCount(profile.instructions)} ops`}
        </button>
      ) : null}
    </Card>
  );
}

const TITLES: Readonly<Record<OpTree["kind"][number], string>> = {
  root: "All programs",
  program: "Program",
  category: "Category",
  scope: "Framework op",
  file: "Source file",
  line: "Source line",
  group: "Identical ops",
  op: "Op",
  kernel: "Kernel",
  rest: "Others",
  idle: "Idle",
};

function sums(tree: OpTree, node: number): Definition[] {
  const items: Definition[] = [time(tree, node)];
  if (tree.kind[node] === "idle" || tree.count[node] === 0) return items;
  return [
    ...items,
    wasted(tree.wastedPs[node], "no op in it has a known share of the peak"),
    ...(tree.unknownPs[node] > 0
      ? [
          {
            id: "unknown",
            label: "Unknown cost",
            value: formatPicoseconds(tree.unknownPs[node]),
            note: "not counted as wasted",
          },
        ]
      : []),
    share("flops", "FLOP rate ÷ peak", tree.flopShare[node]),
    share("hbm", "HBM bandwidth ÷ peak", tree.hbmShare[node]),
    { id: "count", label: "Ops", value: formatCount(tree.count[node]) },
  ];
}

function time(tree: OpTree, node: number): Definition {
  const ps = tree.weightPs[node];
  return { id: "time", label: "Time", value: formatPicoseconds(ps), note: shareOfAll(tree, ps) };
}

function wasted(ps: number, reason: string): Definition {
  const value = Number.isNaN(ps) ? null : formatPicoseconds(ps);
  return { id: "wasted", label: "Wasted", value, reason, explanation: WASTED };
}

function share(id: string, label: string, value: number): Definition {
  return {
    id,
    label,
    value: Number.isNaN(value) ? null : formatShare(value),
    reason: "the op's work or the peak is unknown",
  };
}

interface OpFactsProps {
  readonly profile: Profile;
  readonly tree: OpTree;
  readonly node: number;
  readonly ask: Ask;
  readonly links: Links;
}

function OpFacts({ profile, tree, node, ask, links }: OpFactsProps) {
  const place = tree.place[node];
  const { details, error, retry } = useDetails(ask, profile.rows.row[place]);
  const items = [...opItems(profile, place), ...shapeItems(details)];
  return (
    <>
      <Remark text={textOf(profile, profile.rows.note[place])} />
      <DefinitionList items={items} />
      <div class="program-links">
        <TraceLink links={links} view={executionsOf(profile, place)} />
        {OTHERS.map(([tool, text]) =>
          links.reason(tool) === null ? (
            <p class="detail-links" key={tool}>
              <ToolLink links={links} tool={tool} view={instructionView(profile, place)}>
                {text}
              </ToolLink>
            </p>
          ) : null,
        )}
      </div>
      {error === null ? null : <ErrorMessage error={error} retry={retry} />}
      {details && details.kernels.length > 0 ? (
        <KernelTable details={details} links={links} />
      ) : null}
      {details && details.stack !== "" ? <Stack text={details.stack} /> : null}
      {links.reason(GRAPH) === null ? (
        <HloText ask={ask} of={instructionView(profile, place)} />
      ) : null}
    </>
  );
}

const OTHERS: readonly (readonly [tool: string, text: string])[] = [
  [GRAPH, "Show its operands and users"],
  [MEMORY, "Show its program's memory"],
];

function Remark({ text }: { text: string }) {
  return text === "" ? null : (
    <p class="program-note">
      <span aria-hidden="true">⚠ </span>
      {text.charAt(0).toUpperCase() + text.slice(1)}.
    </p>
  );
}

function opItems(profile: Profile, place: number): Definition[] {
  const { rows, flopPeaks, memoryPeaks } = profile;
  const memory = profile.deviceType === "CPU" ? "Memory" : "HBM";
  const read = (column: Int32Array) => textOf(profile, column[place]);
  const total = rows.totalPs[place];
  const span = rows.spanPs[place];
  const count = rows.occurrences[place];
  // 10^9 per second are one per 1,000 ps.
  const giga = (amount: number) => (span > 0 ? (amount * 1e3) / span : Number.NaN);
  const source = rows.isComputed[place]
    ? "from the shapes in the program"
    : "recorded by the device";
  const given = (id: string, label: string, value: string): Definition[] =>
    value === "" ? [] : [{ id, label, value }];
  return [
    ...given("program", "Program", read(rows.program)),
    ...given("category", "Category", read(rows.category)),
    ...given("scope", "Framework op", read(rows.scope)),
    ...given("source", "Source line", read(rows.source)),
    {
      id: "self",
      label: "Self time",
      value: formatPicoseconds(rows.selfPs[place]),
      note: total > rows.selfPs[place] ? `${formatPicoseconds(total)} with nested ops` : "",
    },
    {
      id: "executions",
      label: "Executions",
      value: formatCount(count),
      note: count > 0 ? `${formatPicoseconds(total / count)} each` : "",
    },
    ...(span === total
      ? []
      : [
          {
            id: "span",
            label: "From start to end",
            value: formatPicoseconds(span),
            note: "overlaps with other ops",
          },
        ]),
    wasted(rows.wastedPs[place], rows.hasInner[place] ? "its parts are listed separately" : ""),
    rate("FLOP rate", giga(rows.flops[place]), "FLOP/s", rows.flopShare[place], source),
    ...peak("Peak", peakOf(flopPeaks, read(rows.roof)), "FLOP/s"),
    rate(`${memory} bandwidth`, giga(rows.hbmBytes[place]), "B/s", rows.hbmShare[place], source),
    ...peak("Peak", peakOf(memoryPeaks, "HBM"), "B/s"),
    ...given("bound", "Bound by", read(rows.boundBy)),
    ...cause(read(rows.cause), rows.couldSavePs[place]),
    ...given("type", "Type", read(rows.dtype)),
    {
      id: "work",
      label: "Per execution",
      value:
        count > 0 && rows.flops[place] >= 0
          ? formatPrefixed(rows.flops[place] / count, "FLOP")
          : null,
      note:
        count > 0 && rows.bytes[place] >= 0
          ? `${formatBytes(bytes(rows.bytes[place] / count))} read and written`
          : "",
      reason: "its operations are unknown",
    },
  ];
}

/** Why it is slow, worded as in the findings of the overview. */
function cause(name: string, savedPs: number): Definition[] {
  if (name === "") return [];
  const note = savedPs > 0 ? `could save at most ${formatPicoseconds(savedPs)}` : "";
  return [{ id: "cause", label: "Why slow", value: name, note }];
}

function rate(label: string, giga: number, unit: string, part: number, source: string): Definition {
  const of = Number.isNaN(part) ? "" : `${formatShare(part)} of the peak, `;
  return {
    id: label,
    label,
    value: Number.isNaN(giga) ? null : formatPrefixed(giga * 1e9, unit),
    note: Number.isNaN(giga) ? "" : `${of}${source}`,
    reason: "its work is unknown",
  };
}

function peak(label: string, known: PeakRate | null, unit: string): Definition[] {
  if (known === null) return [];
  const name = `${label} (${known.of})`;
  return [
    { id: name, label: name, value: formatPrefixed(known.giga * 1e9, unit), note: known.source },
  ];
}

function shapeItems(details: OpDetails | null): Definition[] {
  if (details === null) return [];
  const given = (id: string, label: string, value: string): Definition[] =>
    value === "" ? [] : [{ id, label, value }];
  return [
    ...given("result", "Result", details.result),
    ...given("operands", "Operands", details.operands),
  ];
}

function KernelTable({ details, links }: { details: OpDetails; links: Links }) {
  const more = details.kernelNames - details.kernels.length;
  return (
    <>
      <h3>Kernels</h3>
      <table class="program-kernels">
        <TableHead titles={["Kernel", "Launches", "Time"]} />
        <tbody>
          {details.kernels.map((kernel) => (
            <tr key={kernel.name}>
              <td title={cut(kernel.name, LONGEST_NAME)}>
                <ToolLink links={links} tool={KERNELS} view={kernelRows(kernel.name)}>
                  {cut(readableName(kernel.name), LONGEST_NAME)}
                </ToolLink>
              </td>
              <td>{formatCount(kernel.occurrences)}</td>
              <td>{formatPicoseconds(kernel.totalPs)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {more > 0 ? <p class="muted">{plural(more, "more kernel")}.</p> : null}
    </>
  );
}

function Stack({ text }: { text: string }) {
  return (
    <details class="program-stack">
      <summary>Python stack</summary>
      <pre>{text}</pre>
    </details>
  );
}

/** The HLO text of the instruction, loaded on demand. */
function HloText({ ask, of }: { ask: Ask; of: View }) {
  const [isOpen, setIsOpen] = useState(false);
  const [hlo, setHlo] = useState<string | null>(null);
  useEffect(() => {
    if (!isOpen || hlo !== null) return;
    const abort = new AbortController();
    ask({ tag: GRAPH, type: "node", ...of }, abort.signal)
      .then((answer) => setHlo(text(fields(answer).text) || "The program has no text for this op."))
      .catch((reason: unknown) => {
        if (!abort.signal.aborted) setHlo(describeProblem(reason).message);
      });
    return () => abort.abort();
  }, [isOpen]);
  return (
    <details class="program-stack" onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>HLO text</summary>
      <pre>{hlo ?? "Loading…"}</pre>
    </details>
  );
}

/** Further details of an op from the server; null while loading. */
function useDetails(ask: Ask, row: number) {
  const [details, setDetails] = useState<OpDetails | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    const abort = new AbortController();
    setDetails(null);
    setError(null);
    ask({ row: String(row) }, abort.signal)
      .then((answer) => setDetails(parseDetails(answer)))
      .catch((reason: unknown) => {
        if (!abort.signal.aborted) setError(reason);
      });
    return () => abort.abort();
  }, [ask, row, attempt]);
  return { details, error, retry: () => setAttempt((count) => count + 1) };
}
