/** The choices in the capture form, kept as text until they are sent, and recent addresses. */

export interface Choices {
  readonly addresses: string;
  readonly workers: string;
  readonly run: string;
  readonly hostLevel: string;
  readonly deviceLevel: string;
  readonly pythonLevel: string;
  readonly hasHlo: boolean;
  readonly durationMs: string;
  readonly delayMs: string;
  readonly retries: string;
  /** One `name=value` per line. */
  readonly advanced: string;
}

export const DEFAULTS: Choices = {
  addresses: "",
  workers: "",
  run: "",
  hostLevel: "2",
  deviceLevel: "1",
  pythonLevel: "0",
  hasHlo: true,
  durationMs: "1000",
  delayMs: "0",
  retries: "3",
  advanced: "",
};

interface Preset {
  readonly name: string;
  readonly hint: string;
  readonly choices: Partial<Choices>;
}

export const PRESETS: readonly Preset[] = [
  {
    name: "Standard",
    hint: "1 s of host and device activity",
    choices: { hostLevel: "2", deviceLevel: "1", pythonLevel: "0", durationMs: "1000" },
  },
  {
    name: "With Python",
    hint: "1 s with every Python call; slows the program down",
    choices: { hostLevel: "2", deviceLevel: "1", pythonLevel: "1", durationMs: "1000" },
  },
  {
    name: "Long, low overhead",
    hint: "5 s of program annotations and device activity",
    choices: { hostLevel: "1", deviceLevel: "1", pythonLevel: "0", durationMs: "5000" },
  },
];

export function isPreset(choices: Choices, preset: Preset): boolean {
  return Object.entries(preset.choices).every(
    ([name, value]) => choices[name as keyof Choices] === value,
  );
}

/** The choice for each field of a request. */
export const FIELDS: Readonly<Record<string, keyof Choices>> = {
  addresses: "addresses",
  workers: "workers",
  run: "run",
  host_level: "hostLevel",
  device_level: "deviceLevel",
  python_level: "pythonLevel",
  hlo: "hasHlo",
  duration_ms: "durationMs",
  delay_ms: "delayMs",
  retries: "retries",
  advanced: "advanced",
};

/** The request. Invalid numbers are sent as text, so that the server names the field in its error. */
export function requestOf(choices: Choices): Record<string, unknown> {
  return {
    addresses: choices.addresses,
    workers: choices.workers,
    run: choices.run.trim(),
    host_level: Number(choices.hostLevel),
    device_level: Number(choices.deviceLevel),
    python_level: Number(choices.pythonLevel),
    hlo: choices.hasHlo,
    duration_ms: wholeNumber(choices.durationMs),
    delay_ms: wholeNumber(choices.delayMs),
    retries: wholeNumber(choices.retries),
    advanced: advancedOf(choices.advanced),
  };
}

function wholeNumber(text: string): number | string {
  const plain = text.trim().replace(/[\s,_]/g, "");
  return /^-?\d{1,15}$/.test(plain) ? Number(plain) : text;
}

function advancedOf(text: string): Record<string, string> {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return Object.fromEntries(
    lines.map((line) => {
      const index = line.indexOf("=");
      // The trailing space makes the server reject a line without "=", and name it.
      return index < 0
        ? [`${line.trim()} `, ""]
        : [line.slice(0, index).trim(), line.slice(index + 1).trim()];
    }),
  );
}

const KEPT = 8;
const KEY = "tbprof.capture.recent";

/** Recently captured address lists, newest first; stored in this browser only. */
export function recentAddresses(): string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(kept)
      ? kept.filter((name) => typeof name === "string").slice(0, KEPT)
      : [];
  } catch {
    return [];
  }
}

export function rememberAddresses(addresses: string): void {
  const text = addresses.trim();
  if (text === "" || text.length > 2_000) return;
  try {
    const others = recentAddresses().filter((address) => address !== text);
    localStorage.setItem(KEY, JSON.stringify([text, ...others].slice(0, KEPT)));
  } catch {
    // Without storage, as in a private window, nothing is remembered.
  }
}
