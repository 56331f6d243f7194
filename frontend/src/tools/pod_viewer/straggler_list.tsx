/** The workers that others wait for, the latest first; without any, how workers compare. */
import { formatCount, formatRatio, formatTime, plural } from "../../base/format";
import { type Microseconds, ratio } from "../../base/units";
import { Card } from "../../widgets/text/card";
import { phaseColor } from "../steps/phases";
import type { Lateness, Pod } from "./payload";

interface StragglerListProps {
  readonly pod: Pod;
  readonly worker: number | null;
  readonly choose: (worker: number | null) => void;
}

export function StragglerList({ pod, worker, choose }: StragglerListProps) {
  const { stragglers, workers, hosts } = pod;
  return (
    <Card
      class="snug pod-stragglers"
      title="Stragglers"
      why={{
        formula:
          "Workers that run the same collectives wait for each other. A worker's own time is its step without collectives. It is late by its own time minus that of the median worker, step by step, as the mean over the typical steps of both, but by no more than the other waits longer in collectives. Workers are listed that are late by 1 % of a step or more, if random variation would hardly look the same (99 %, three steps or more).",
        unit: "time per step with its 95 % confidence interval (CI), and percent of the average step",
        source: "Device and host events within the workers' steps.",
      }}
    >
      {stragglers.length === 0 ? (
        <p class="muted">{nobody(pod)}</p>
      ) : (
        <ol class="plain">
          {stragglers.map((straggler) => (
            <li key={`${straggler.worker} ${straggler.name}`}>
              <button
                type="button"
                aria-pressed={straggler.worker === worker}
                onClick={() => choose(straggler.worker === worker ? null : straggler.worker)}
              >
                <span class="pod-straggler-head">
                  <b>{straggler.name.slice(0, 40)}</b>
                  <span class="cut muted" title={hosts[workers.host[straggler.worker]]}>
                    {(workers.shortHosts[workers.host[straggler.worker]] ?? "").slice(0, 100)}
                  </span>
                  <b class="pod-late">+{formatTime(straggler.late)}</b>
                </span>
                <span class="pod-straggler-note">
                  {straggler.phase ? (
                    <>
                      <span class="swatch" style={{ background: phaseColor(straggler.phase) }} />
                      {straggler.phase} ·{" "}
                    </>
                  ) : null}
                  {formatRatio(ratio(straggler.share))} of a step · {interval(straggler)} ·{" "}
                  {slowestIn(straggler)}
                </span>
              </button>
            </li>
          ))}
        </ol>
      )}
    </Card>
  );
}

function slowestIn({ lastSteps, steps }: Lateness): string {
  if (lastSteps === 0) return "never the slowest";
  return `the slowest in ${lastSteps === steps ? "each" : `${formatCount(lastSteps)} of them`}`;
}

/** "95 % CI: 3.20 ms to 5.00 ms over 18 steps". */
function interval({ low, high, steps }: Lateness): string {
  const over = `over ${plural(steps, "step")}`;
  if (Number.isNaN(low)) return over;
  return `95 % CI: ${signed(low)} to ${signed(high)} ${over}`;
}

function signed(time: Microseconds): string {
  return time < 0 ? `−${formatTime(-time as Microseconds)}` : formatTime(time);
}

/** Why the list is empty, and how the workers compare. */
function nobody({ compared, noStraggler }: Pod): string {
  if (compared?.late === 0) return "The workers take equally long.";
  const longer = compared
    ? `${compared.title.slice(0, 60)} took ${formatTime(compared.late)} longer per step (${interval(compared)}) than ${compared.reference.slice(0, 60)}`
    : "";
  switch (noStraggler) {
    case "uncoupled":
      return `${longer}. Nothing in the trace shows that others wait for it.`;
    case "few_steps":
      return `${longer}. With fewer than 3 steps, a late worker cannot be distinguished from a late step.`;
    case "varies":
      return `${longer}. Steps vary that much by chance.`;
    case "unmet":
      return `${longer}, but the others did not wait longer in collectives meanwhile.`;
    case "unnamed":
      return "Virtual devices of the CPU wait for each other in collectives, but the trace does not identify them.";
    case "apart":
      return "The workers have no step in common to compare.";
    default:
      return "No worker is late by 1 % of a step or more.";
  }
}
