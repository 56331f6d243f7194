/** The columns of the table of input ops. */
import type { ColumnSpec } from "../../../widgets/table/columns";
import type { Grouping } from "../../../widgets/table/group";
import { explaining, groupBy, TIME_UNIT } from "../../../widgets/table/specs";

const TRACE = "Host events of the input pipeline, on all threads and hosts.";

const why = explaining(TRACE);

export const OP_COLUMNS: readonly ColumnSpec[] = [
  {
    id: "opName",
    title: "Input op",
    isName: true,
    width: 340,
    isShown: true,
    isSticky: true,
    group: { how: "label" },
    explanation: why(
      "Name of the op; the name of a pipeline stage lists all stages from the last one to this one",
      "none",
    ),
  },
  {
    id: "category",
    title: "Category",
    width: 210,
    isShown: true,
    group: { how: "same" },
    explanation: why("The kind of work that the op does", "none"),
  },
  {
    id: "count",
    title: "Count",
    quantity: "count",
    width: 96,
    isShown: true,
    group: { how: "sum" },
    explanation: why("Number of events", "events"),
  },
  {
    id: "workTimeInMs",
    title: "Work",
    quantity: "time",
    width: 104,
    isShown: true,
    hasBar: true,
    group: { how: "sum" },
    explanation: why("Self time minus waiting, plus what other threads did for the op", TIME_UNIT),
  },
  {
    id: "waitTimeInMs",
    title: "Waiting",
    quantity: "time",
    width: 104,
    isShown: true,
    group: { how: "sum" },
    explanation: why("The part of the self time that the op spends waiting for others", TIME_UNIT),
  },
  {
    id: "selfTimeInMs",
    title: "Self",
    quantity: "time",
    width: 104,
    isShown: true,
    group: { how: "sum" },
    explanation: why(
      "Total minus the time of input ops nested in it on the same thread",
      TIME_UNIT,
    ),
  },
  {
    id: "selfTimeInPercent",
    title: "Self share",
    quantity: "ratio",
    width: 104,
    isShown: true,
    group: { how: "sum" },
    explanation: why("Self time ÷ self time of all input ops", "percent"),
  },
  {
    id: "timeInMs",
    title: "Total",
    quantity: "time",
    width: 104,
    isShown: true,
    group: { how: "none" },
    explanation: why("Sum of the durations; includes nested ops", TIME_UNIT),
  },
  {
    id: "timeInPercent",
    title: "Total share",
    quantity: "ratio",
    width: 110,
    isShown: false,
    group: { how: "none" },
    explanation: why("Total ÷ self time of all input ops; includes nested ops", "percent"),
  },
];

export const OP_GROUPINGS: readonly Grouping[] = [groupBy("category", "Category")];
