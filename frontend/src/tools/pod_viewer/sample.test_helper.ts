const LATENESS = {
  device: null,
  reference_device: null,
  late_us: 20,
  low_us: 15,
  high_us: 25,
  wait_us: 20,
  share: 0.19,
  event: 6,
  last_steps: 2,
  steps: 4,
};

/** A small pod: two hosts of two workers, three steps, of which the last was not fully recorded. */
export function samplePod(more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    steps: {
      number: [3, 4, 5],
      label: ["train 3", "train 4", "train 5"],
      start_ms: [0, 1.5, null],
      is_truncated: [false, false, true],
    },
    workers: {
      core_id: [0, 1, 1000, 1001],
      name: ["TPU:0", "TPU:1", "TPU:0", "TPU:1"],
      kind: ["TPU", "TPU", "TPU", "TPU"],
      host: [0, 0, 1, 1],
    },
    hosts: ["pod-w-0.eu", "pod-w-1.eu"],
    events: [
      { id: 1, name: "Device compute" },
      { id: 3, name: "Device collective communication" },
      { id: 6, name: "Input" },
    ],
    unit_us: 0.1,
    // Worker by worker; the last one has no first step.
    total: [1000, 1100, 300, 1000, 1100, 300, 1000, 1100, 300, -1, 1100, 300],
    share_permille: {
      "1": [600, 600, 900, 600, 600, 900, 600, 600, 900, -1, 600, 900],
      "3": [300, 300, 0, 300, 300, 0, 100, 100, 0, -1, 300, 0],
      "6": [100, 100, 100, 100, 100, 100, 300, 300, 100, -1, 100, 100],
    },
    stragglers: [
      { worker: 2, reference: 0, ...LATENESS },
      { worker: 99, reference: 0, ...LATENESS },
    ],
    compared: null,
    no_straggler: "",
    device_type: "TPU v4",
    step_source: "markers",
    step_marker: "train",
    step_note: "",
    is_inferred: false,
    diagnostics: [],
    markers: { name: ["train", "f"], line: ["a", "b"], count: [3, 6], median_ms: [1, 2] },
    ...more,
  };
}
