/** Downloads of the program for other tools. */
import { dataParameters } from "../../api/client";
import { Popover } from "../../widgets/overlays/popover";
import type { ProgramGraph } from "./payload";

interface DownloadsProps {
  readonly graph: ProgramGraph;
  readonly run: string;
  readonly hosts: readonly string[];
}

const FILES: readonly (readonly [label: string, note: string, Readonly<Record<string, string>>])[] =
  [
    ["HLO text, short", "without redundant details", { type: "short_txt" }],
    [
      "HLO text, long",
      "with shapes, metadata and source lines",
      { type: "long_txt", show_metadata: "1" },
    ],
    ["HloProto", "for XLA's own tools", { type: "pb" }],
    ["HloProto as text", "", { type: "pbtxt" }],
    ["This graph as DOT", "for Graphviz", { type: "graph", format: "dot" }],
  ];

export function Downloads({ graph, run, hosts }: DownloadsProps) {
  return (
    <Popover label="Download ▾" panelLabel="Downloads" role="menu" width={320}>
      {(close) => (
        <div class="menu graph-downloads">
          {FILES.map(([label, note, parameters]) => {
            const options = {
              program_id: graph.programId,
              program_host: graph.host,
              node_name: graph.centerName,
              graph_width: String(graph.hops),
              ...parameters,
            };
            const query = dataParameters({ run, tool: "graph_viewer", hosts, options });
            return (
              <a
                key={label}
                role="menuitem"
                download
                href={`data?${new URLSearchParams(query.map(([name, value]) => [name, value]))}`}
                onClick={close}
              >
                {label}
                {note === "" ? null : <span class="muted">{note}</span>}
              </a>
            );
          })}
        </div>
      )}
    </Popover>
  );
}
