/** Pickers of the program, the center instruction, and the number of hops. */
import { useEffect, useRef, useState } from "preact/hooks";
import { formatCount, formatTime, plural } from "../../base/format";
import { SmallButton } from "../../widgets/controls/buttons";
import { Listbox } from "../../widgets/overlays/listbox";
import { Picker, PickerButton } from "../../widgets/overlays/picker";
import type { Ask, Select } from "../tool";
import { type Found, type ListedProgram, type ProgramGraph, parseFound } from "./payload";

interface PickersProps {
  readonly graph: ProgramGraph;
  readonly ask: Ask;
  readonly select: Select;
  readonly center: (name: string) => void;
}

const HOPS = [1, 2, 3, 4];
/** Delay between typing and searching. */
const PAUSE_MS = 150;

export function Pickers({ graph, ask, select, center }: PickersProps) {
  const choose = ({ id, host }: ListedProgram) =>
    select({
      program_id: id,
      program_host: graph.programs.filter((program) => program.id === id).length > 1 ? host : null,
      module_name: null,
      node_name: null,
      opened: null,
      node: null,
      look: null,
      line: null,
    });
  return (
    <div class="graph-pickers">
      <div class="picker">
        <span class="picker-label">Program</span>
        <Picker
          value={titleOf(graph.name, graph.programId)}
          title={`Program: ${titleOf(graph.name, graph.programId)}`}
          label="Programs"
          placeholder="Search by name or id"
          options={() =>
            graph.programs.map((program, index) => ({
              id: String(index),
              text: `${program.name}(${program.id})`,
              isSelected: program.id === graph.programId && program.name === graph.name,
              content: (
                <>
                  <span class="option-main">{titleOf(program.name, program.id)}</span>
                  <span class="option-note">
                    {program.time > 0 ? formatTime(program.time) : "did not run"}
                  </span>
                </>
              ),
            }))
          }
          choose={(at) => choose(graph.programs[Number(at)])}
          width={460}
        />
      </div>
      <InstructionSearch graph={graph} ask={ask} center={center} />
      <fieldset class="graph-hops">
        <legend class="picker-label">Hops</legend>
        {HOPS.map((hops) => (
          <SmallButton
            key={hops}
            aria-pressed={graph.hops === hops}
            title={`Instructions up to ${plural(hops, "hop")} away`}
            onClick={() => select({ graph_width: String(hops), look: null })}
          >
            {hops}
          </SmallButton>
        ))}
      </fieldset>
      <span class="muted">
        {formatCount(graph.instructions)} instructions
        {graph.programs.length > 1 ? ` · ${formatCount(graph.programs.length)} programs` : ""}
      </span>
    </div>
  );
}

function titleOf(name: string, id: string): string {
  return `${name.slice(0, 200) || "unnamed"} (${id})`;
}

function InstructionSearch({ graph, ask, center }: Omit<PickersProps, "select">) {
  return (
    <div class="picker">
      <span class="picker-label">Instruction</span>
      <PickerButton
        value={graph.centerName.slice(0, 200) || "none"}
        title={`Instruction: ${graph.centerName.slice(0, 200)}`}
        width={520}
      >
        {(close) => (
          <InstructionList
            graph={graph}
            ask={ask}
            choose={(name) => {
              close();
              center(name);
            }}
          />
        )}
      </PickerButton>
    </div>
  );
}

interface InstructionListProps {
  readonly graph: ProgramGraph;
  readonly ask: Ask;
  readonly choose: (name: string) => void;
}

function InstructionList({ graph, ask, choose }: InstructionListProps) {
  const [query, setQuery] = useState("");
  const [answer, setAnswer] = useState<Found | null>(null);
  const latest = useRef(ask);
  latest.current = ask;
  useEffect(() => {
    const abort = new AbortController();
    const timer = setTimeout(
      async () => {
        try {
          const parameters = {
            program_id: graph.programId,
            program_host: graph.host,
            type: "search",
            search: query,
          };
          const next = parseFound(await latest.current(parameters, abort.signal));
          if (!abort.signal.aborted) setAnswer(next);
        } catch {
          // Earlier results stay; the page reports what is wrong with the program.
        }
      },
      query === "" ? 0 : PAUSE_MS,
    );
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [query, graph.programId, graph.host]);
  const instructions = answer?.found ?? [];
  return (
    <>
      <Listbox
        label="Instructions"
        placeholder="Search by name or opcode"
        typed={setQuery}
        options={instructions.map(({ name, opcode, shape, computation, self }) => ({
          id: name,
          text: `${name} ${opcode} ${query}`,
          isSelected: name === graph.centerName,
          content: (
            <>
              <span class="option-main">{name.slice(0, 200)}</span>
              <span class="option-note">
                {opcode} · {shape.slice(0, 40)}
                {Number.isNaN(self) ? "" : ` · ${formatTime(self)}`} · {computation.slice(0, 60)}
              </span>
            </>
          ),
        }))}
        choose={({ id }) => choose(id)}
      />
      {answer && answer.count > instructions.length ? (
        <p class="listbox-note">
          The first {formatCount(instructions.length)} of {formatCount(answer.count)}; type to
          narrow the list.
        </p>
      ) : null}
    </>
  );
}
