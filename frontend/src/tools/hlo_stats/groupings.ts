/** The groupings of instructions. */
import type { Grouping } from "../../widgets/table/group";
import { groupBy, groupByScope } from "../../widgets/table/specs";
import { PROGRAM } from "../programs/program_column";

export const HLO_GROUPINGS: readonly Grouping[] = [
  groupBy("category", "Category"),
  groupBy(PROGRAM, "Program"),
  groupByScope("scope1", "Name scope, first part", "tf_op_name", 1),
  groupByScope("scope2", "Name scope, two parts", "tf_op_name", 2),
  groupByScope("scope3", "Name scope, three parts", "tf_op_name", 3),
  groupBy("tf_op_name", "Framework op"),
  groupBy("source", "Source line"),
  groupBy("dtype", "Element type"),
  groupBy("bound_by", "Bound by"),
  groupBy("cause", "Why slow"),
  groupBy("replica_groups", "Replica groups"),
];
