/** The choice of one allocator, of all hosts. */
import { plural } from "../../base/format";
import { Listbox, type Option } from "../../widgets/overlays/listbox";
import { Popover } from "../../widgets/overlays/popover";
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
      <Popover
        label={
          <>
            <span class="picker-value">{label.slice(0, 200)}</span>{" "}
            <span aria-hidden="true">▾</span>
          </>
        }
        title={`Memory ID: ${label.slice(0, 500)}`}
        buttonClass="picker-button"
        panelLabel="Memory IDs"
        role="listbox"
        width={420}
      >
        {(close) => (
          <Listbox
            label="Memory IDs"
            placeholder="Search allocators and hosts"
            options={memory.allocators.map((one, at) => optionOf(one, at === memory.chosen))}
            choose={(option) => {
              close();
              choose(option.id);
            }}
          />
        )}
      </Popover>
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
