/** The columns of the table of input ops. */
import type { ColumnSpec } from "../../../widgets/table/columns";
import type { Grouping } from "../../../widgets/table/group";
import {
  explaining,
  groupBy,
  nameSpec,
  numberSpec,
  TIME_UNIT,
  textSpec,
} from "../../../widgets/table/specs";

const TRACE = "Host events of the input pipeline, on all threads and hosts.";

const why = explaining(TRACE);

export const OP_COLUMNS: readonly ColumnSpec[] = [
  nameSpec(
    "opName",
    "Input op",
    340,
    why(
      "Name of the op; the name of a pipeline stage lists all stages from the last one to this one",
      "none",
    ),
  ),
  textSpec("category", "Category", 210, true, why("The kind of work that the op does", "none")),
  {
    ...numberSpec("count", "Count", "count", 96),
    explanation: why("Number of events", "events"),
  },
  {
    ...numberSpec("workTimeInMs", "Work", "time", 104),
    hasBar: true,
    explanation: why("Self time minus waiting, plus what other threads did for the op", TIME_UNIT),
  },
  {
    ...numberSpec("waitTimeInMs", "Waiting", "time", 104),
    explanation: why("The part of the self time that the op spends waiting for others", TIME_UNIT),
  },
  {
    ...numberSpec("selfTimeInMs", "Self", "time", 104),
    explanation: why(
      "Total minus the time of input ops nested in it on the same thread",
      TIME_UNIT,
    ),
  },
  {
    ...numberSpec("selfTimeInPercent", "Self share", "ratio", 104),
    explanation: why("Self time ÷ self time of all input ops", "percent"),
  },
  {
    ...numberSpec("timeInMs", "Total", "time", 104, "none"),
    explanation: why("Sum of the durations; includes nested ops", TIME_UNIT),
  },
  {
    ...numberSpec("timeInPercent", "Total share", "ratio", 110, "none"),
    isShown: false,
    explanation: why("Total ÷ self time of all input ops; includes nested ops", "percent"),
  },
];

export const OP_GROUPINGS: readonly Grouping[] = [groupBy("category", "Category")];
