/** The memory page: the use of each memory over time, its content, and what to free first. */

import { LinkButton } from "../../widgets/controls/buttons";
import type { PageProps } from "../tool";
import { BreakdownCard } from "./breakdown/breakdown_card";
import { Fills } from "./breakdown/fills";
import { Devices } from "./devices";
import { Findings } from "./findings";
import { Growth } from "./growth";
import "./memory.css";
import type { Memory } from "./payload";
import { SummaryCard } from "./summary_card";
import { TimelineCard } from "./timeline/timeline_card";
import { useMemory } from "./use_memory";

export function MemoryPage(props: PageProps<Memory>) {
  const { title, payload, view, select, links, ask, fileName } = props;
  const { memory, isLoading, error } = useMemory(payload, view, ask);
  const shared = { memory, view, select, isLoading, fileName: `memory_${fileName}` };
  const reset = () => select({ memory_id: null, at_ps: null, from_ps: null, to_ps: null });
  return (
    <div class="page flowing memory-page">
      <header class="page-head">
        <h1>{title}</h1>
        {error === "" ? (
          <Fills breakdown={memory.breakdown} />
        ) : (
          <p class="memory-error" role="alert">
            <span aria-hidden="true">⚠ </span>
            {error.slice(0, 500)} <LinkButton onClick={reset}>Back to the peak</LinkButton>
          </p>
        )}
      </header>
      <Devices memory={memory} select={select} />
      <div class="with-aside">
        <SummaryCard memory={memory} select={select} links={links} />
        <TimelineCard {...shared} />
      </div>
      <Findings memory={memory} />
      <BreakdownCard {...shared} links={links} />
      <Growth memory={memory} />
    </div>
  );
}
