/** The columns and groupings of the breakdown table. */
import type { ColumnSpec } from "../../../widgets/table/columns";
import type { Grouping } from "../../../widgets/table/group";
import {
  BYTES_UNIT,
  explaining,
  groupBy,
  nameSpec,
  numberSpec,
  textSpec,
} from "../../../widgets/table/specs";

const EVENTS = "Memory allocation events on the host's threads, matched by address.";

const why = explaining(EVENTS);

export const BREAKDOWN_COLUMNS: readonly ColumnSpec[] = [
  nameSpec(
    "op",
    "Op name",
    320,
    why(
      "The op that requested the memory. “–” if the recorder named none.",
      "none",
      "The stat tf_op of the allocation.",
    ),
  ),
  {
    ...numberSpec("allocated_bytes", "Allocation size", "bytes", 152),
    hasBar: true,
    explanation: why(
      "Sum of the sizes of the row's allocations that were in use at the instant; allocators round requests up",
      BYTES_UNIT,
    ),
  },
  {
    ...numberSpec("requested_bytes", "Requested size", "bytes", 150),
    explanation: why("Sum of the requested sizes", BYTES_UNIT),
  },
  {
    ...numberSpec("occurrences", "Occurrences", "count", 112),
    explanation: why("Number of allocations in use", "allocations"),
  },
  text(
    "region",
    "Region type",
    104,
    "The purpose of the memory: temp (temporaries), output (activations and gradients), persist or dynamic (weights and constants)",
  ),
  text("dtype", "Data type", 92, "Element type of the tensor"),
  text("shape", "Shape", 150, "Shape of the tensor"),
  text(
    "age",
    "Allocated in",
    150,
    "Relative to the instant: in the same step, in an earlier step, or before the recording began (in use according to the allocator, but its allocation was not recorded)",
  ),
  text("step", "Step", 110, "The step in which the first of the row's allocations was made"),
  {
    ...numberSpec("since_ps", "Since (µs)", "count", 104, "min"),
    isShown: false,
    explanation: why(
      "When the first of the row's allocations was made, since the start of the trace",
      "µs",
    ),
  },
];

export const BREAKDOWN_GROUPINGS: readonly Grouping[] = [
  groupBy("op", "Op"),
  groupBy("shape", "Shape"),
  groupBy("dtype", "Data type"),
  groupBy("region", "Region type"),
  groupBy("age", "Allocated in"),
  groupBy("step", "Step"),
];

function text(id: string, title: string, width: number, formula: string): ColumnSpec {
  return textSpec(id, title, width, true, why(formula, "none", "Stats of the allocation."));
}
