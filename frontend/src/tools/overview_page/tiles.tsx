/** The five key figures of a run. */
import { type ComponentChildren, Fragment } from "preact";
import { formatCount, formatRatio, NOT_MEASURED, plural } from "../../base/format";
import { ratio } from "../../base/units";
import { Sparkline } from "../../widgets/chart/sparkline";
import { Explained } from "../../widgets/overlays/why";
import { type BarPart, StackedBar } from "../../widgets/stacked_bar/stacked_bar";
import type { Explanation } from "../../widgets/table/columns";
import { Sentence } from "../../widgets/text/sentence";
import { phaseColor } from "../steps/phases";
import { waitingRange } from "../steps/step_table";
import { averageMs, explain, formatMs, formatReading } from "./numbers";
import type { Overview, Reading } from "./payload";
import { averageName } from "./step_parts/step_parts";

const STEPS =
  "The fully recorded steps of all chosen hosts and their devices. Outliers are left out unless all steps are chosen.";

export function Tiles({ overview }: { overview: Overview }) {
  const { steps, figures } = overview;
  const input = figures.get("waiting_for_input");
  return (
    <div class="tiles">
      <Tile
        title={averageName(steps)}
        reading={figures.get("step_time_average")}
        explanation={explain(overview, "step_time_average", "Mean of the step times", STEPS)}
      >
        <StepNote overview={overview} />
        <Sparkline values={wholeTimes(steps)} label="Step time over the steps" />
      </Tile>
      <Tile
        title="Waiting for input"
        reading={input}
        explanation={explain(
          overview,
          "waiting_for_input",
          "Time of the step spent waiting for input ÷ step time",
          STEPS,
        )}
      >
        {input && !Number.isNaN(input.value) ? (
          <>
            <p class="muted">
              <Sentence text={waitingText(overview, input.value)} />
            </p>
            <Meter share={input.value / 100} color="var(--c-input)" />
          </>
        ) : null}
      </Tile>
      {figures.has("host_compute") ? (
        <HostTiles overview={overview} />
      ) : (
        <DeviceTiles overview={overview} />
      )}
    </div>
  );
}

function DeviceTiles({ overview }: { overview: Overview }) {
  const busy = overview.figures.get("device_busy");
  return (
    <>
      <Tile
        title="Device busy"
        reading={busy}
        explanation={explain(
          overview,
          "device_busy",
          "Time in which the device does anything ÷ step time",
          STEPS,
        )}
      >
        {busy && !Number.isNaN(busy.value) ? <BusyParts overview={overview} busy={busy} /> : null}
      </Tile>
      <PrecisionTile overview={overview} />
      <MemoryTile overview={overview} />
    </>
  );
}

/** The tiles of a run without devices. */
function HostTiles({ overview }: { overview: Overview }) {
  const compute = overview.figures.get("host_compute");
  const threads = overview.figures.get("threads_at_work");
  return (
    <>
      <Tile
        title="Host compute"
        reading={compute}
        explanation={explain(overview, "host_compute", "Host compute ÷ step time", STEPS)}
      >
        <ShareOfStep overview={overview} percent={compute?.value} />
      </Tile>
      <PythonTile overview={overview} />
      <Tile
        title="Threads at work"
        reading={threads}
        explanation={explain(
          overview,
          "threads_at_work",
          "Threads that run ops at the same time, on average",
          "Ops of the host's threads.",
        )}
      >
        {threads && threads.value >= 0 ? <p class="muted">run ops at once, on average</p> : null}
      </Tile>
    </>
  );
}

/** The Python tile; if Python was not recorded, the largest part of “All others” instead. */
function PythonTile({ overview }: { overview: Overview }) {
  const { figures, idle } = overview;
  const python = figures.get("python");
  const largest = idle.find(({ parent, id }) => parent === "" && id !== "uncovered");
  const explanation = explain(overview, "python", "Time in Python functions ÷ step time", STEPS);
  if (python && (!Number.isNaN(python.value) || !largest)) {
    return (
      <Tile title="Python" reading={python} explanation={explanation}>
        <ShareOfStep overview={overview} percent={python.value} />
      </Tile>
    );
  }
  const percent = ((largest?.ms ?? Number.NaN) / averageMs(overview)) * 100;
  return (
    <Tile
      title={largest?.label ?? "Python"}
      reading={python}
      value={Number.isNaN(percent) ? null : formatRatio(ratio(percent / 100))}
      explanation={{
        ...explanation,
        formula:
          "Time of the average step in which threads did this while no op computed ÷ step time",
      }}
    >
      <ShareOfStep overview={overview} percent={percent} />
    </Tile>
  );
}

/** "849 µs of each step", and a bar. */
function ShareOfStep({
  overview,
  percent = Number.NaN,
}: {
  overview: Overview;
  percent: number | undefined;
}) {
  if (Number.isNaN(percent)) return null;
  return (
    <>
      <p class="muted">{formatMs(averageMs(overview) * (percent / 100))} of each step</p>
      <Meter share={percent / 100} color="var(--c-host)" />
    </>
  );
}

/** The phases in which a device is busy, and their descriptions. */
const WORK: readonly (readonly [id: string, doing: string])[] = [
  ["device_compute", "computing"],
  ["collectives", "in collectives"],
  ["device_to_device", "copying on devices"],
  ["host_transfer", "copying to and from the host"],
];
/** The smallest share that is mentioned. */
const LITTLE = 0.0005;

/** What the devices are busy with; a device that only copies is also busy. */
function BusyParts({ overview, busy }: { overview: Overview; busy: Reading }) {
  const { breakdown } = overview;
  const whole = breakdown.reduce((sum, { ms, parent }) => sum + (parent === "" ? ms || 0 : 0), 0);
  const parts = WORK.flatMap(([id, label]): BarPart[] => {
    const share = (breakdown.find((row) => row.id === id)?.ms ?? 0) / whole;
    return share >= LITTLE ? [{ id, label, color: phaseColor(id), share }] : [];
  });
  const idle = 1 - busy.value / 100;
  const listed = parts.length > 1 || parts[0]?.id !== "device_compute" ? parts : [];
  const texts = listed.map(({ label, share }) => `${formatRatio(ratio(share))} ${label}`);
  if (listed.length === 0 || idle >= LITTLE) texts.push(`${formatRatio(ratio(idle))} idle`);
  const rest = { id: "idle", label: "idle", color: "var(--c-idle)", share: idle };
  return (
    <>
      <p class="muted">
        <Sentence text={texts.join(" · ")} />
      </p>
      <StackedBar label="Device activity" parts={idle >= LITTLE ? [...parts, rest] : parts} />
    </>
  );
}

/** "1.07 ms of each step · 12.1 to 79.5 %". */
function waitingText(overview: Overview, percent: number): string {
  if (percent === 0) return "No step waits for input";
  const time = `${formatMs(averageMs(overview) * (percent / 100))} of each step`;
  const [low, high] = waitingRange(overview.steps).map((value) => value.toFixed(1));
  return low === high ? time : `${time} · ${low} to ${high} %`;
}

interface TileProps {
  readonly title: string;
  readonly reading: Reading | undefined;
  readonly explanation: Explanation;
  /** Shown instead of the reading. */
  readonly value?: string | null;
  readonly children?: ComponentChildren;
}

function Tile({ title, reading, explanation, value, children }: TileProps) {
  const shown = value !== undefined ? value : reading ? formatReading(reading) : null;
  const reason = reading?.reason || "not measured";
  return (
    <div class="card figure tile" role="group" aria-label={title}>
      <div class="figure-title">
        <Explained label={title} explanation={explanation} />
      </div>
      <div class="figure-value" title={shown === null ? reason : undefined}>
        {shown ?? NOT_MEASURED}
      </div>
      {shown === null ? <p class="muted">{capitalized(reason)}</p> : null}
      {children}
    </div>
  );
}

/** [steps] NaN for steps that were not fully recorded. */
function wholeTimes({ total, isTruncated }: Overview["steps"]): Float64Array {
  return total.map((time, step) => (isTruncated[step] ? Number.NaN : time));
}

function StepNote({ overview }: { overview: Overview }) {
  const { figures, steps } = overview;
  const reading = (id: string) => {
    const figure = figures.get(id);
    return figure && !Number.isNaN(figure.value) ? formatReading(figure) : null;
  };
  if (steps.count === 0) return null;
  const deviation = reading("step_time_deviation");
  const least = reading("step_time_minimum");
  const most = reading("step_time_maximum");
  const median = reading("step_time_median");
  const all = reading("step_time_average_all");
  const used = steps.isLeftOut.filter((isOut) => !isOut).length;
  const count =
    used === steps.count
      ? plural(used, "step")
      : `${formatCount(used)} of ${formatCount(steps.count)} steps`;
  const facts = [
    { text: median && used > 1 ? `median ${median}` : "" },
    { text: deviation ? `σ ${deviation}` : "", title: "Standard deviation over the steps" },
    { text: count, title: used === steps.count ? undefined : leftOutText(overview) },
    { text: least && most && used > 1 ? `${least} to ${most}` : "" },
    { text: steps.isTypical && all ? `average of all steps ${all}` : "" },
  ].filter(({ text }) => text !== "");
  return (
    <p class="muted">
      {facts.map(({ text, title }, index) => (
        <Fragment key={text}>
          {index > 0 ? " " : ""}
          <span class="measure" title={title}>
            {text}
            {index < facts.length - 1 ? " ·" : ""}
          </span>
        </Fragment>
      ))}
    </p>
  );
}

function leftOutText({ steps }: Overview): string {
  const isCut = steps.isTruncated.includes(true) || steps.isUnrecorded?.includes(true);
  const cut = isCut ? ["were not fully recorded"] : [];
  const slow = steps.isTypical ? ["take much longer"] : [];
  return `The other steps ${[...cut, ...slow].join(" or ")}`;
}

const PRECISIONS: readonly (readonly [id: string, label: string, color: string])[] = [
  ["8", "8 bit", "var(--c-compute16)"],
  ["16", "16 bit", "var(--c-compute16)"],
  ["unknown", "unknown", "var(--c-compute)"],
  ["tf32", "TF32", "var(--c-compute32)"],
  ["32", "32 bit", "var(--c-compute32)"],
  ["64", "64 bit", "var(--c-compute32)"],
];

function PrecisionTile({ overview }: { overview: Overview }) {
  const { figures } = overview;
  const parts = PRECISIONS.flatMap(([id, label, color]): BarPart[] => {
    const percent = figures.get(`device_compute_${id}`)?.value ?? Number.NaN;
    return percent > 0 ? [{ id, label, color, share: percent / 100 }] : [];
  });
  const largest = parts.toSorted((a, b) => b.share - a.share)[0];
  const reading = figures.get("device_compute_16");
  return (
    <Tile
      title="Precision"
      reading={reading}
      value={largest ? `${formatRatio(ratio(largest.share))} ${largest.label}` : null}
      explanation={explain(
        overview,
        "device_compute_16",
        "Device compute time by number type ÷ all device compute time",
        "Names and shapes of kernels and ops; TF32 rounds 32-bit numbers for the Tensor Cores.",
      )}
    >
      {largest ? (
        <>
          <p class="muted">
            {parts
              .filter((part) => part !== largest)
              .map((part) => `${part.label} ${formatRatio(ratio(part.share))}`)
              .join(" · ") || "of device compute"}
          </p>
          <StackedBar label="Device compute by precision" parts={parts} />
        </>
      ) : null}
    </Tile>
  );
}

function MemoryTile({ overview }: { overview: Overview }) {
  const peak = overview.figures.get("peak_memory");
  const capacity = overview.figures.get("memory_capacity");
  const share = (peak?.value ?? Number.NaN) / (capacity?.value ?? Number.NaN);
  return (
    <Tile
      title="Peak memory"
      reading={peak}
      explanation={explain(
        overview,
        "peak_memory",
        "Largest number of bytes in use on a device",
        "Allocation events of the devices' allocators.",
      )}
    >
      {share >= 0 && capacity ? (
        <>
          <p class="muted">
            {formatRatio(ratio(share))} of {formatReading(capacity)}
          </p>
          <Meter share={share} color="var(--c-output)" />
        </>
      ) : null}
    </Tile>
  );
}

/** A share as a bar; the text beside it states the value. */
function Meter({ share, color }: { share: number; color: string }) {
  const width = `${Math.max(0, Math.min(share, 1)) * 100}%`;
  return (
    <div class="meter" aria-hidden="true">
      <span style={{ width, background: color }} />
    </div>
  );
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
