/** Small charts of the fullest allocators over the whole recording; a click chooses one. */
import { useId } from "preact/hooks";
import { formatCount } from "../../base/format";
import { Explained } from "../../widgets/overlays/why";
import type { Select } from "../tool";
import { formatGibibytes, formatMemoryShare } from "./format";
import type { Allocator, Memory } from "./payload";

interface DevicesProps {
  readonly memory: Memory;
  readonly select: Select;
}

const WIDTH = 200;
const HEIGHT = 40;

export function Devices({ memory, select }: DevicesProps) {
  const id = useId();
  const { allocators, chosen, pictured } = memory;
  if (allocators.length < 2) return null;
  const most = {
    device: scaleOf(allocators.filter(({ isDevice }) => isDevice)),
    host: scaleOf(allocators.filter(({ isDevice }) => !isDevice)),
  };
  return (
    <section class="memory-devices" aria-labelledby={id}>
      <header class="card-head">
        <h2 id={id}>
          <Explained
            label="Memories"
            explanation={{
              formula: `Stack + heap over the whole recording. To make heights comparable, all devices are drawn from 0 to ${formatGibibytes(most.device)}, and all host memory from 0 to ${formatGibibytes(most.host)}. The figures are the peak and its share of the capacity.`,
              unit: "GiB",
              source: "Memory allocation and deallocation events of each allocator.",
            }}
          />
        </h2>
        {allocators.length > pictured.length ? (
          <span class="muted">the fullest of {formatCount(allocators.length)}</span>
        ) : null}
      </header>
      <div class="memory-multiples">
        {pictured.map((index) => (
          <button
            type="button"
            key={allocators[index].id}
            class="card inner-focus memory-multiple"
            aria-pressed={index === chosen}
            title={allocators[index].label.slice(0, 2000)}
            onClick={() => select({ memory_id: allocators[index].id, at_ps: null })}
          >
            <span class="memory-multiple-head">
              <span class="cut">{allocators[index].name.slice(0, 200)}</span>
              <b>{peakText(allocators[index])}</b>
            </span>
            {memory.hosts.length > 1 ? (
              <span class="cut muted memory-multiple-host">
                {allocators[index].host.slice(0, 200)}
              </span>
            ) : null}
            <Preview allocator={allocators[index]} most={most} />
          </button>
        ))}
      </div>
    </section>
  );
}

interface PreviewProps {
  readonly allocator: Allocator;
  readonly most: { readonly device: number; readonly host: number };
}

function Preview({ allocator, most }: PreviewProps) {
  const { preview, begin, end, isDevice } = allocator;
  const d = previewPath(preview, begin, end, isDevice ? most.device : most.host);
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <path d={d} />
    </svg>
  );
}

/** The outline of a step function; "" without points. */
function previewPath(
  { time, bytes }: Allocator["preview"],
  begin: number,
  end: number,
  most: number,
): string {
  if (time.length === 0 || !(end > begin) || !(most > 0)) return "";
  const x = (at: number) => (((time[at] ?? end) - begin) / (end - begin)) * WIDTH;
  let d = `M${x(0).toFixed(1)} ${HEIGHT}`;
  for (let index = 0; index < time.length; index++) {
    const y = HEIGHT - ((bytes[index] || 0) / most) * (HEIGHT - 1);
    d += `V${y.toFixed(1)}H${x(index + 1).toFixed(1)}`;
  }
  return `${d}V${HEIGHT}z`;
}

function scaleOf(allocators: readonly Allocator[]): number {
  return allocators.reduce((most, { peak }) => Math.max(most, peak || 0), 0);
}

function peakText({ peak, capacity }: Allocator): string {
  const share = peak / capacity;
  return `${formatGibibytes(peak)}${share >= 0 ? ` · ${formatMemoryShare(share)}` : ""}`;
}
