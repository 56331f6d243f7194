/** The run environment and further readings. */
import { Card } from "../../widgets/text/card";
import { type Definition, DefinitionList } from "../../widgets/text/definition_list";
import { formatReading } from "./numbers";
import type { EnvironmentFact, Overview } from "./payload";

export function Environment({ environment }: { environment: readonly EnvironmentFact[] }) {
  if (environment.length === 0) return null;
  return (
    <Card class="facts" title="Run environment">
      <DefinitionList
        items={environment.map(({ id: name, label, value, note, host }, index) => ({
          id: `${index} ${name}`,
          label: host === "" ? label : `${label} (${host})`,
          value: value === "" ? null : value,
          note: value === "" ? "" : note,
          reason: note,
        }))}
      />
    </Card>
  );
}

const OF_TPUS = [
  "duty_cycle",
  "mxu_utilization",
  "flop_rate",
  "flop_utilization",
  "model_flop_utilization",
  "hbm_utilization",
  "memory_bandwidth",
  "bandwidth_utilization",
];
const OF_OTHERS = [
  "flop_rate",
  "flop_utilization",
  "model_flop_utilization",
  "memory_bandwidth",
  "bandwidth_utilization",
  "host_op_eager",
  "device_op_eager",
];

/** Readings of SparseCores, if there are any. */
const OF_SPARSE_CORES = ["sc_step_time", "sc_busy", "sc_flop_rate", "sc_memory_bandwidth"];

/** For TPUs all readings, even if not measured; otherwise only the measured ones. */
export function Readings({ overview }: { overview: Overview }) {
  const { isTpu } = overview;
  const items = (isTpu ? [...OF_TPUS, ...OF_SPARSE_CORES] : OF_OTHERS).flatMap(
    (name): Definition[] => {
      const reading = overview.figures.get(name);
      if (!reading || (!isTpu && Number.isNaN(reading.value))) return [];
      return [
        {
          id: name,
          label: reading.label,
          value: formatReading(reading),
          note: reading.note,
          reason: reading.reason,
          explanation: {
            formula: reading.explanation || reading.label,
            unit: reading.unit || "none",
            source: "Device events and counters of the trace.",
          },
        },
      ];
    },
  );
  if (items.length === 0) return null;
  return (
    <Card class="facts" title={isTpu ? "TPU" : "Rates"}>
      <DefinitionList items={items} />
    </Card>
  );
}
