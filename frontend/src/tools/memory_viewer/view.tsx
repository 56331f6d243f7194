/** The program memory page: the memory of each compiled program over its schedule. */
import { formatBytes, sentence } from "../../base/format";
import { bytes } from "../../base/units";
import { LinkButton } from "../../widgets/controls/buttons";
import { MemoryFindings } from "../../widgets/memory_chart/memory_findings";
import { Card } from "../../widgets/text/card";
import { ToolLink } from "../links/tool_link";
import type { Links, PageProps } from "../tool";
import { HeapCard } from "./heap/heap_card";
import { LiveCard } from "./live_card";
import type { Heap } from "./payload";
import "./program_memory.css";
import { ProgramPickers, showProgram } from "./program_pickers";
import { HeapFigures, HeapSentence } from "./summary";

export { showProgram };

export function ProgramMemoryPage(props: PageProps<Heap>) {
  const { title, payload: heap, view, select, links, fileName } = props;
  const file = `program_memory_${fileName}`;
  return (
    <div class="page flowing heap-page">
      <header class="page-head heap-head">
        <h1>{title}</h1>
        <ProgramPickers heap={heap} select={select} />
        <span class="space" />
        <OtherPages heap={heap} links={links} />
      </header>
      {heap.reason === "" ? (
        <>
          <HeapSentence heap={heap} />
          <div class="with-aside">
            <HeapFigures heap={heap} />
            <HeapCard heap={heap} select={select} fileName={file} />
          </div>
          <Savings heap={heap} />
          <LiveCard heap={heap} view={view} select={select} links={links} fileName={file} />
        </>
      ) : (
        <Nothing heap={heap} select={select} />
      )}
    </div>
  );
}

/** Why nothing is shown, and what can be shown instead. */
function Nothing({ heap, select }: Pick<PageProps<Heap>, "select"> & { readonly heap: Heap }) {
  const other = heap.programs.find((program) => program.reason === "" && program !== heap.program);
  const hasSpaces = heap.program !== null && heap.spaces.length > 0;
  return (
    <div class="heap-nothing" role="alert">
      <p>{sentence(heap.reason).slice(0, 500)}</p>
      {hasSpaces ? (
        <p class="muted">Choose another memory space above.</p>
      ) : other ? (
        <p>
          <LinkButton onClick={() => select(showProgram(other))}>
            Show {other.title.slice(0, 200)}
          </LinkButton>
        </p>
      ) : null}
    </div>
  );
}

const OTHERS = [
  ["graph_viewer", "Show the program's instructions"],
  ["op_profile", "Show where the program's time goes"],
  [
    "memory_profile",
    "Show the memory that allocators had in use while this and other programs ran",
  ],
] as const;

function OtherPages({ heap, links }: { readonly heap: Heap; readonly links: Links }) {
  const view = { program_id: heap.program?.id ?? "" };
  return (
    <span class="heap-links">
      {OTHERS.map(([tool, title]) => (
        <ToolLink
          key={tool}
          links={links}
          tool={tool}
          view={tool === "memory_profile" ? {} : view}
          title={title}
        >
          {links.short(tool)}
        </ToolLink>
      ))}
    </span>
  );
}

function Savings({ heap }: { readonly heap: Heap }) {
  if (heap.findings.length === 0) return null;
  return (
    <Card
      class="snug heap-savings"
      title="What would free memory"
      why={{
        formula:
          "Upper bounds with their shares of the peak: results that could reuse the memory of a parameter with the same shape; arrays that are computed by cheap ops before the peak and used after it; padding; gaps. They may overlap, so they do not add up.",
        unit: "bytes, percent",
        source: "The buffer assignment of the program, and its instructions.",
      }}
    >
      <MemoryFindings findings={heap.findings} amount={(size) => `≤ ${formatBytes(bytes(size))}`} />
    </Card>
  );
}
