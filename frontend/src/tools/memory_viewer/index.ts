import { texts } from "../../api/data_table";
import { defineTool, showOnly } from "../tool";
import { type Heap, parseHeap } from "./payload";
import { ProgramMemoryPage, showProgram } from "./view";

export default defineTool<Heap>({
  parse: parseHeap,
  warnings: () => [],
  emptiness: ({ programs }) =>
    programs.length > 0 ? null : "The trace has no compiled programs (HLO).",
  finds: ({ programs, live }, select) => [
    {
      kind: "Program",
      names: programs.map(({ title }) => title),
      choose: (title) => {
        const chosen = programs.find((program) => program.title === title);
        if (chosen) select(showProgram(chosen));
      },
    },
    {
      kind: "Instruction",
      names: texts(live.table, "instruction")?.strings ?? [],
      choose: (name) => showOnly(live.table, "instruction", name, select),
    },
  ],
  Page: ProgramMemoryPage,
});
