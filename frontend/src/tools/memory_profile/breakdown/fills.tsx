/** The ops with the most memory at the chosen instant, in one line. */
import { numbers, textAt, texts } from "../../../api/data_table";
import { foldName } from "../../../base/names";
import { foldNumbers } from "../../../widgets/table/name_folding";
import { Name } from "../../../widgets/text/name";
import { formatAmount, formatMemoryShare } from "../format";
import type { MemoryBreakdown } from "./breakdown";

const MOST = 3;
const UNNAMED = "ops without a name";

export function Fills({ breakdown }: { readonly breakdown: MemoryBreakdown }) {
  const { inUse } = breakdown;
  const largest = largestFills(breakdown);
  if (!(inUse > 0) || largest.length === 0) return null;
  return (
    <p class="memory-fills">
      <span class="muted">{breakdown.isPeak ? "At the peak:" : "At this instant:"}</span>
      {largest.map(({ name, size }) => (
        <span key={name} class="memory-fill">
          <b title={formatAmount(size)}>{formatMemoryShare(size / inUse)}</b>{" "}
          <Name text={foldName(name)} full={name} />
        </span>
      ))}
    </p>
  );
}

interface Fill {
  /** The op's name with stars for the numbers of replicas and layers. */
  readonly name: string;
  /** In bytes. */
  readonly size: number;
}

/** The ops with the most memory in use, the largest first. */
function largestFills({ table }: MemoryBreakdown): Fill[] {
  const ops = texts(table, "op");
  const names = Array.from({ length: table.length }, (_, row) => textAt(ops, row) || UNNAMED);
  const unique = [...new Set(names)];
  const folded = foldNumbers(unique);
  const familyOf = new Map(unique.map((name, index) => [name, folded[index]]));
  const sizes = new Map<string, number>();
  numbers(table, "allocated_bytes")?.forEach((size, row) => {
    const name = familyOf.get(names[row])!;
    if (size > 0) sizes.set(name, (sizes.get(name) ?? 0) + size);
  });
  return [...sizes]
    .map(([name, size]) => ({ name, size }))
    .sort((a, b) => b.size - a.size)
    .slice(0, MOST);
}
