/** The columns and groupings of the table of arrays in memory. */
import type { ColumnSpec } from "../../widgets/table/columns";
import type { Grouping } from "../../widgets/table/group";
import {
  BYTES_UNIT,
  explaining,
  groupBy,
  nameSpec,
  numberSpec,
  textSpec,
} from "../../widgets/table/specs";

const SOURCE = "The buffer assignment of the program in the trace.";
const PROGRAM = "The instruction in the program (HLO).";

const why = explaining(SOURCE);

export const LIVE_COLUMNS: readonly ColumnSpec[] = [
  nameSpec(
    "instruction",
    "Instruction",
    300,
    why(
      "Instruction whose result is in memory; {1} is the second element of a tuple. Memory of parameters and results is named after the largest array in it.",
      "none",
      PROGRAM,
    ),
  ),
  size("size_bytes", "Size", "Memory that it takes, including padding", true),
  size("unpadded_bytes", "Unpadded", "Number of elements × size of an element"),
  size("padding_bytes", "Padding", "Size − unpadded size: added by the layout to fill whole tiles"),
  text(
    "purpose",
    "Purpose",
    130,
    "Parameter, result, constant or temporary array. The memory of a donated parameter also holds a result.",
    SOURCE,
  ),
  text("shape", "Shape", 240, "Type, dimensions and layout of the array"),
  text("op", "Op name", 260, "Framework op that the instruction was compiled from"),
  text("source", "Source", 180, "Source line that called the op"),
  text("opcode", "Opcode", 110, "Opcode of the instruction"),
  {
    ...numberSpec("start", "Since event", "count", 110, "min"),
    isShown: false,
    explanation: why("Heap event that allocated it; 0 if it is in memory throughout", "events"),
  },
  {
    ...numberSpec("instants", "For events", "count", 110, "max"),
    isShown: false,
    explanation: why("Number of heap events during which it stays in memory", "events"),
  },
];

export const LIVE_GROUPINGS: readonly Grouping[] = [
  groupBy("op", "Op name"),
  groupBy("purpose", "Purpose"),
  groupBy("source", "Source"),
  groupBy("opcode", "Opcode"),
  groupBy("shape", "Shape"),
];

function size(id: string, title: string, formula: string, hasBar = false): ColumnSpec {
  return {
    ...numberSpec(id, title, "bytes", hasBar ? 140 : 110),
    hasBar,
    explanation: why(formula, BYTES_UNIT),
  };
}

function text(
  id: string,
  title: string,
  width: number,
  formula: string,
  source = PROGRAM,
): ColumnSpec {
  return textSpec(id, title, width, true, why(formula, "none", source));
}
