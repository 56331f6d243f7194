/** The purposes of memory with their colors. */
export const PURPOSES = [
  { id: "Parameter", label: "Parameters", color: "var(--c-host)" },
  { id: "Output", label: "Results", color: "var(--c-launch)" },
  { id: "Constant", label: "Constants", color: "var(--c-compile)" },
  { id: "Temporary", label: "Temporary", color: "var(--c-output)" },
] as const;

export const TEMPORARY = PURPOSES[3];
export const UNPADDED = { label: "Without padding", color: "var(--text)" } as const;
