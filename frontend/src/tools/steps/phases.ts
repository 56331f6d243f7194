/** The phases of a step with their labels and colors. */

export interface PhaseSpec {
  /** The id in breakdown tables. */
  readonly id: string;
  readonly label: string;
  readonly color: string;
  /** The columns of the step table, in ms, that add up to it. */
  readonly columns: readonly string[];
}

/** In stacking order, the bottom first. */
export const PHASES: readonly PhaseSpec[] = [
  phase(
    "compute_16",
    "Device compute, ≤ 16 bit",
    "compute16",
    "deviceCompute16Ms",
    "deviceCompute8Ms",
  ),
  phase("compute_unknown", "Device compute, unknown", "compute", "deviceComputeUnknownMs"),
  phase(
    "compute_32",
    "Device compute, ≥ 32 bit",
    "compute32",
    "deviceComputeTf32Ms",
    "deviceCompute32Ms",
    "deviceCompute64Ms",
  ),
  phase("device_to_device", "Device to device", "copy", "deviceToDeviceTimeMs"),
  phase("host_transfer", "Host transfer", "transfer", "hostTransferTimeMs"),
  phase("host_callback", "Host callbacks", "callback", "hostCallbackTimeMs"),
  phase("collectives", "Device collectives", "collective", "deviceCollectivesTimeMs"),
  phase("host_compute", "Host compute", "host", "hostComputeTimeMs"),
  phase("kernel_launch", "Kernel launch", "launch", "kernelLaunchTimeMs"),
  phase("input", "Input", "input", "infeedTimeMs"),
  phase("output", "Output", "output", "outfeedTimeMs"),
  phase("compilation", "Compilation", "compile", "compileTimeMs"),
  phase("other", "All others", "idle", "otherTimeMs"),
];

/** For tables that do not split compute by precision. */
export const COMPUTE = phase(
  "device_compute",
  "Device compute",
  "compute16",
  "deviceComputeTimeMs",
);

function phase(id: string, label: string, color: string, ...columns: string[]): PhaseSpec {
  return { id, label, color: `var(--c-${color})`, columns };
}

/** Patterns of phase ids, by which colors are chosen. */
const NAMES: readonly (readonly [pattern: RegExp, color: string])[] = [
  [/launch/, "launch"],
  [/compil/, "compile"],
  [/outfeed|output/, "output"],
  [/infeed|input/, "input"],
  [/collective/, "collective"],
  [/transfer/, "transfer"],
  [/callback/, "callback"],
  [/to_device|copy/, "copy"],
  [/host/, "host"],
  [/unknown/, "compute"],
  [/16|_8/, "compute16"],
  [/32|64/, "compute32"],
  [/compute/, "compute16"],
];

/** The color of a phase: "device_compute_tf32" has that of 32 bit and more. */
export function phaseColor(id: string): string {
  const name = id.toLowerCase().replaceAll(" ", "_");
  return `var(--c-${NAMES.find(([pattern]) => pattern.test(name))?.[1] ?? "idle"})`;
}
