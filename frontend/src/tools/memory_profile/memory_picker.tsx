/** The picker of an allocator among those of all hosts. */
import { plural } from "../../base/format";
import type { Option } from "../../widgets/overlays/listbox";
import { Picker } from "../../widgets/overlays/picker";
import { formatGibibytes } from "./format";
import type { Allocator, Memory } from "./payload";

interface MemoryPickerProps {
  readonly memory: Memory;
  readonly choose: (id: string) => void;
}

export function MemoryPicker({ memory, choose }: MemoryPickerProps) {
  const { label } = memory.allocators[memory.chosen];
  return (
    <div class="picker memory-picker">
      <span class="picker-label">Memory ID</span>
      <Picker
        value={label.slice(0, 200)}
        title={`Memory ID: ${label.slice(0, 500)}`}
        label="Memory IDs"
        placeholder="Search allocators and hosts"
        options={() =>
          memory.allocators.map((allocator, index) => optionOf(allocator, index === memory.chosen))
        }
        choose={choose}
        width={420}
      />
    </div>
  );
}

function optionOf(allocator: Allocator, isSelected: boolean): Option {
  const { id, label, host, isDevice, allocations, deallocations, peak } = allocator;
  const events = plural(allocations + deallocations, "event");
  const most = Number.isNaN(peak) ? "" : ` · peak ${formatGibibytes(peak)}`;
  return {
    id,
    text: `${id} ${label} ${host} ${isDevice ? "device" : "host"}`,
    isSelected,
    content: (
      <>
        <span class="option-main">{label.slice(0, 500)}</span>
        <span class="option-note">
          {isDevice ? "device" : "host"} · {events}
          {most}
        </span>
      </>
    ),
  };
}
