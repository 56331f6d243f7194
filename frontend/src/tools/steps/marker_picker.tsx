/** The picker of the step marker: the events that delimit steps, and alternatives. */
import { formatCount, formatTime } from "../../base/format";
import { foldName, readableName } from "../../base/names";
import { microseconds } from "../../base/units";
import type { Option } from "../../widgets/overlays/listbox";
import { Picker } from "../../widgets/overlays/picker";
import type { Select } from "../tool";
import type { Marker } from "./markers";
import type { StepTable } from "./step_table";

interface MarkerPickerProps {
  readonly markers: readonly Marker[];
  readonly steps: Pick<StepTable, "property">;
  /** The user's choice; "" for automatic. */
  readonly chosen: string;
  readonly select: Select;
}

const AUTOMATIC = "\u0000automatic";

const SOURCES: Readonly<Record<string, string>> = {
  steps_line: "step line of the device",
  groups: "event groups in the file",
  executions: "program executions",
  pattern: "repeating events",
  none: "none",
};

export function MarkerPicker({ markers, steps, chosen, select }: MarkerPickerProps) {
  const source = steps.property("step_source");
  const marker = steps.property("step_marker");
  const value = marker === "" ? (SOURCES[source] ?? "–") : foldName(readableName(marker));
  const isInferred = steps.property("is_inferred") === "true";
  const note = steps.property("step_note");
  if (markers.length === 0 && source === "") return null;
  const automatic: Option = {
    id: AUTOMATIC,
    text: "Automatic",
    isSelected: chosen === "",
    content: (
      <>
        <span class="option-main">Automatic</span>
        <span class="option-note">step markers in the trace, else the best fit</span>
      </>
    ),
  };
  return (
    <div class="marker-picker">
      <span class="muted">Step marker</span>
      <Picker
        value={value.slice(0, 120)}
        title={`Step marker: ${value.slice(0, 120)}${isInferred ? ", inferred" : ""}`}
        label="Events that can mark steps"
        placeholder="Search events that repeat"
        options={() => [automatic, ...markers.map((marker) => markerOption(marker))]}
        choose={(name) =>
          select({ marker: name === AUTOMATIC ? null : name, step: null, zoom: null })
        }
        width={460}
      />
      {isInferred ? (
        <span class="tag low" title={note || "Nothing in the trace marks steps"}>
          inferred
        </span>
      ) : null}
    </div>
  );
}

function markerOption({ name, line, count, medianMs, isCurrent }: Marker): Option {
  const times = Number.isNaN(count) ? "" : `${formatCount(count)} × `;
  const median = Number.isNaN(medianMs) ? "" : formatTime(microseconds(medianMs * 1000));
  return {
    id: name,
    text: `${name} ${line}`,
    isSelected: isCurrent,
    content: (
      <>
        <span class="option-main">
          <span class="menu-mark" aria-hidden="true">
            {isCurrent ? "✓" : ""}
          </span>
          <span title={name.slice(0, 2000)}>{foldName(readableName(name))}</span>
        </span>
        <span class="option-note">
          {times}
          {median} · {line.slice(0, 80)}
        </span>
      </>
    ),
  };
}
