/** A profile as the server sends it: two programs, a loop, equal ops, kernels, and a rest. */
import { type Profile, parseProfile } from "./payload";

const PS_PER_US = 1e6;

interface SampleRow {
  readonly program: string;
  readonly name: string;
  readonly category: string;
  readonly us: number;
  readonly totalUs?: number;
  readonly wasted?: number;
  readonly group?: string;
  readonly scope?: string;
  readonly source?: string;
  readonly count?: number;
  readonly share?: number;
  readonly kernels?: readonly (readonly [name: string, us: number])[];
}

export const ROWS: readonly SampleRow[] = [
  {
    program: "jit_f(7)",
    name: "dot.1",
    category: "fusion",
    us: 50,
    wasted: 30,
    group: "dot",
    scope: "jit(f)/jvp(a/b)/dot:",
    source: "/src/train.py:12",
    share: 0.4,
    kernels: [
      ["gemm", 40],
      ["split", 8],
    ],
  },
  {
    program: "jit_f(7)",
    name: "dot.2",
    category: "fusion",
    us: 20,
    wasted: 5,
    group: "dot",
    scope: "jit(f)/dot:",
    source: "/src/train.py:12",
    share: 0.75,
  },
  { program: "jit_f(7)", name: "while.3", category: "while", us: 4, totalUs: 30 },
  { program: "jit_g(8)", name: "copy.4", category: "copy", us: 16, wasted: 16, share: 0 },
  { program: "jit_g(8)", name: "", category: "copy", us: 10, wasted: 8, count: 25 },
];

export function sampleJson(rows: readonly SampleRow[] = ROWS): Record<string, unknown> {
  const texts: string[] = [];
  const of = (text: string) => {
    if (!texts.includes(text)) texts.push(text);
    return texts.indexOf(text);
  };
  const column = <T>(value: (row: SampleRow) => T) => rows.map(value);
  const ps = (us: number | undefined) => (us === undefined ? -1 : us * PS_PER_US);
  const kernels = rows.flatMap((row, place) =>
    (row.kernels ?? []).map(([name, us]) => ({ place, name, us })),
  );
  return {
    device_type: "GPU",
    devices: 1,
    sparse_cores: 0,
    window_ps: 120 * PS_PER_US,
    idle_ps: 20 * PS_PER_US,
    sparse_core_idle_ps: 0,
    peaks: {
      flops: [{ dtype: "f16", gflops: 1000, source: "recorded by the device" }],
      memories: [{ memory: "HBM", gbytes: 100, source: "recorded by the device" }],
    },
    instructions: 29,
    rows: {
      row: rows.map((row, place) => (row.count ? -1 : place)),
      count: column((row) => row.count ?? 1),
      program_id: column((row) => of(row.program.slice(-2, -1))),
      program: column((row) => of(row.program)),
      name: column((row) => of(row.name)),
      category: column((row) => of(row.category)),
      group: column((row) => of(row.group ?? row.name)),
      opcode: column((row) => of(row.category)),
      scope: column((row) => of(row.scope ?? "")),
      source: column((row) => of(row.source ?? "")),
      dtype: column(() => of("bf16")),
      roof: column(() => of("f16")),
      bound_by: column(() => of("Compute")),
      cause: column(() => of("")),
      note: column((row) => of(row.wasted === undefined ? "its parts have rows" : "")),
      occurrences: column((row) => row.count ?? 2),
      kernels: column((row) => row.kernels?.length ?? 0),
      total_ps: column((row) => ps(row.totalUs ?? row.us)),
      self_ps: column((row) => ps(row.us)),
      span_ps: column((row) => ps(row.totalUs ?? row.us)),
      wasted_ps: column((row) => ps(row.wasted)),
      could_save_ps: column(() => -1),
      at_peak_ps: column((row) => ps(row.share === undefined ? undefined : row.share * row.us)),
      flops: column((row) => (row.share === undefined ? -1 : row.share * row.us * 1e6)),
      model_flops: column(() => -1),
      transcendentals: column(() => -1),
      bytes_accessed: column(() => 1000),
      hbm_bytes: column(() => 1000),
      flop_share: column((row) => row.share ?? null),
      hbm_share: column(() => 0.01),
      efficiency: column((row) => row.share ?? null),
      is_computed: column(() => true),
      is_product: column(() => false),
      has_inner: column((row) => row.totalUs !== undefined),
    },
    kernels: {
      place: kernels.map(({ place }) => place),
      name: kernels.map(({ name }) => of(name)),
      occurrences: kernels.map(() => 2),
      total_ps: kernels.map(({ us }) => ps(us)),
    },
    texts,
  };
}

export function sampleProfile(rows?: readonly SampleRow[]): Profile {
  return parseProfile(sampleJson(rows));
}
