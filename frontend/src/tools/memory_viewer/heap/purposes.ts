/** What memory is for, with one colour each. */
export const PURPOSES = [
  { id: "Parameter", label: "Parameters", color: "var(--c-host)" },
  { id: "Output", label: "Results", color: "var(--c-launch)" },
  { id: "Constant", label: "Constants", color: "var(--c-compile)" },
  { id: "Temporary", label: "Temporary", color: "var(--c-output)" },
] as const;

/** Of what is in use throughout, in the upper chart. */
export const FIXED = { label: "Parameters, results, constants", color: "var(--c-host)" } as const;
export const HEAP = { label: "Temporary arrays", color: "var(--c-output)" } as const;
export const UNPADDED = { label: "Without padding", color: "var(--text)" } as const;
