/** A summary of all programs of a run. */
import { type Profile, textOf } from "./payload";

export type Summary = Readonly<ReturnType<typeof findSummary>>;

interface ProgramSums {
  time: number;
  atPeak: number;
  flopSpan: number;
  hbm: number;
  hbmSpan: number;
}

export function findSummary(profile: Profile) {
  const { rows, memoryPeaks } = profile;
  const programs = new Map<number, ProgramSums>();
  let whole = 0;
  let wasted = Number.NaN;
  let unknown = 0;
  for (let place = 0; place < rows.length; place++) {
    const sums = programs.get(rows.program[place]) ?? {
      time: 0,
      atPeak: 0,
      flopSpan: 0,
      hbm: 0,
      hbmSpan: 0,
    };
    programs.set(rows.program[place], sums);
    whole += rows.selfPs[place];
    sums.time += rows.selfPs[place];
    if (rows.wastedPs[place] >= 0) wasted = (wasted || 0) + rows.wastedPs[place];
    else unknown += rows.selfPs[place];
    if (rows.hasInner[place]) continue;
    if (rows.atPeakPs[place] >= 0) {
      sums.atPeak += rows.atPeakPs[place];
      sums.flopSpan += rows.spanPs[place];
    }
    if (rows.hbmBytes[place] >= 0) {
      sums.hbm += rows.hbmBytes[place];
      sums.hbmSpan += rows.spanPs[place];
    }
  }
  const [first] = [...programs].sort(([, a], [, b]) => b.time - a.time);
  const [program, most] = first ?? [-1, null];
  const hbmPeak = memoryPeaks.find(({ of }) => of === "HBM")?.giga ?? Number.NaN;
  const flops = most ? most.atPeak / most.flopSpan : Number.NaN;
  const hbm = most ? (most.hbm * 1e3) / most.hbmSpan / hbmPeak : Number.NaN;
  const isMemory = hbm >= 0 && !(flops >= hbm);
  return {
    /** The program with the most time, and its share of the time of all ops. */
    program: textOf(profile, program) || "No program",
    share: most && whole > 0 ? most.time / whole : 0,
    /** The largest share of a peak that it uses, NaN if unknown, and the name of that peak. */
    used: isMemory ? hbm : flops,
    bound: isMemory ? "the peak HBM bandwidth" : "the peak FLOP rate",
    /** Times of all programs in ps: wasted (NaN if unknown for all ops), unknown, total. */
    wasted,
    unknown,
    whole,
  };
}
