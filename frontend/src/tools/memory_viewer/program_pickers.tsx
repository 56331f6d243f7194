/** The pickers of a program and of one of its memory spaces. */
import { formatBytes, plural } from "../../base/format";
import { bytes } from "../../base/units";
import { SmallButton } from "../../widgets/controls/buttons";
import type { Option } from "../../widgets/overlays/listbox";
import { Picker } from "../../widgets/overlays/picker";
import type { Select } from "../tool";
import type { Heap, Program } from "./payload";

interface ProgramPickersProps {
  readonly heap: Heap;
  readonly select: Select;
}

/** Another program has other spaces and events. */
export function showProgram({ id, host }: Program): Readonly<Record<string, string | null>> {
  return {
    program_id: id,
    program_host: host === "" ? null : host,
    module_name: null,
    memory_space: null,
    ...NO_EVENTS,
  };
}

const NO_EVENTS = { instant: null, from_event: null, to_event: null };

export function ProgramPickers({ heap, select }: ProgramPickersProps) {
  const { programs, program, spaces, space } = heap;
  const name = program?.title ?? "none";
  return (
    <div class="heap-pickers">
      <div class="picker">
        <span class="picker-label">Program</span>
        <Picker
          value={name.slice(0, 200)}
          title={`Program: ${name.slice(0, 500)}`}
          label="Programs"
          placeholder="Search programs and hosts"
          options={() =>
            programs.map((listed, index) => optionOf(listed, index, listed === program))
          }
          choose={(at) => select(showProgram(programs[Number(at)]))}
          width={460}
        />
      </div>
      {spaces.length > 1 || (spaces.length === 1 && Number.isNaN(space)) ? (
        <div class="heap-spaces" role="group" aria-label="Memory space">
          {spaces.map((choice) => (
            <SmallButton
              key={choice.space}
              aria-pressed={choice.space === space}
              title={`Memory space ${choice.space}`}
              onClick={() =>
                select({
                  memory_space: choice.space === 0 ? null : String(choice.space),
                  ...NO_EVENTS,
                })
              }
            >
              {choice.label} {formatBytes(bytes(choice.peak))}
            </SmallButton>
          ))}
        </div>
      ) : null}
    </div>
  );
}

function optionOf(program: Program, at: number, isSelected: boolean): Option {
  const { title, hasRun, peak, reason, host, hosts } = program;
  const ran = hasRun === null ? "unknown whether it ran" : hasRun ? "ran" : "did not run";
  const most = Number.isNaN(peak) ? reason : `peak ${formatBytes(bytes(peak))}`;
  const where =
    host === "" ? "" : ` · ${hosts > 1 ? `${plural(hosts, "host")}, the first ` : ""}${host}`;
  return {
    id: String(at),
    text: `${title} ${host} ${ran}`,
    isSelected,
    content: (
      <>
        <span class="option-main">{title.slice(0, 500)}</span>
        <span class="option-note">
          {most} · {ran}
          {where.slice(0, 200)}
        </span>
      </>
    ),
  };
}
