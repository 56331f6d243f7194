/** The step selector: a slider that can play, and a picker. */
import { useEffect, useRef, useState } from "preact/hooks";
import { formatCount, formatTime } from "../../../base/format";
import { bindKeys } from "../../../base/keys";
import { microseconds } from "../../../base/units";
import { SmallButton } from "../../../widgets/controls/buttons";
import { Picker } from "../../../widgets/overlays/picker";
import { stepName } from "../../../widgets/step_chart/steps";
import { ToolLink } from "../../links/tool_link";
import { TRACE } from "../../links/trace_links";
import type { Links } from "../../tool";
import type { Pod } from "../payload";
import type { StepCells } from "./step_cells";
import { stepPlace } from "./step_place";

interface StepBarProps {
  readonly pod: Pod;
  readonly step: number;
  /** [steps] The slowest worker's time in µs. */
  readonly slowest: Float64Array;
  readonly cells: StepCells;
  readonly choose: (step: number) => void;
  readonly links: Links;
}

const FRAME_MS = 600;

export function StepBar({ pod, step, slowest, cells, choose, links }: StepBarProps) {
  const { steps } = pod;
  const last = steps.count - 1;
  const [isPlaying, play] = useState(false);
  const now = useRef({ step, choose });
  now.current = { step, choose };
  const move = (by: number) => {
    const { step: from, choose: go } = now.current;
    const to = Math.max(0, Math.min(from + by, last));
    if (to !== from) go(to);
  };
  useEffect(() => {
    if (!isPlaying) return;
    const timer = setInterval(() => {
      if (now.current.step >= last) play(false);
      else move(1);
    }, FRAME_MS);
    return () => clearInterval(timer);
  }, [isPlaying, last]);
  const toggle = () => {
    // At the end, playing starts over.
    if (!isPlaying && now.current.step >= last) now.current.choose(0);
    play(!isPlaying);
  };
  useEffect(
    () =>
      bindKeys([
        { keys: ["ArrowLeft"], label: "Previous step", section: "Page", run: () => move(-1) },
        { keys: ["ArrowRight"], label: "Next step", section: "Page", run: () => move(1) },
        { keys: ["p"], label: "Play or stop the steps", section: "Page", run: toggle },
      ]),
    [isPlaying, last],
  );
  const label = steps.labels[step].slice(0, 60);
  const time = (at: number) =>
    Number.isNaN(slowest[at]) ? "not recorded" : formatTime(microseconds(slowest[at]));
  return (
    <section class="card pod-steps" aria-label="Step">
      <span class="pod-step-buttons">
        <SmallButton
          aria-label="Previous step"
          title="Previous step (←)"
          aria-disabled={step === 0}
          onClick={() => move(-1)}
        >
          ◂
        </SmallButton>
        <SmallButton
          title={isPlaying ? "Stop (p)" : "Play the steps (p)"}
          aria-label={isPlaying ? "Stop" : "Play the steps"}
          aria-disabled={last === 0}
          onClick={toggle}
        >
          {isPlaying ? "■" : "▶"}
        </SmallButton>
        <SmallButton
          aria-label="Next step"
          title="Next step (→)"
          aria-disabled={step === last}
          onClick={() => move(1)}
        >
          ▸
        </SmallButton>
      </span>
      <input
        type="range"
        class="pod-slider"
        min={0}
        max={last}
        value={step}
        aria-label="Step"
        aria-valuetext={`${label}, slowest worker ${time(step)}`}
        onInput={(event) => choose(Number(event.currentTarget.value))}
      />
      <Picker
        value={<b>{stepName(steps, step)}</b>}
        title={`Step: ${label}`}
        label="Steps"
        placeholder="Search steps"
        options={() =>
          steps.labels.map((text, index) => ({
            id: String(index),
            text,
            isSelected: index === step,
            content: (
              <>
                <span class="option-main">{text.slice(0, 200)}</span>
                <span class="option-note">
                  {time(index)}
                  {steps.isTruncated[index] ? " · not fully recorded" : ""}
                  {steps.outliers?.[index] ? " · outlier" : ""}
                </span>
              </>
            ),
          }))
        }
        choose={(at) => choose(Number(at))}
        width={380}
      />
      <span class="muted pod-step-place">
        {formatCount(step + 1)} of {formatCount(steps.count)}
        {Number.isNaN(steps.start[step]) ? "" : ` · at ${formatTime(steps.start[step])}`}
      </span>
      <ToolLink
        links={links}
        tool={TRACE}
        {...stepPlace(pod, cells)}
        title="The step on its slowest worker"
        className="pod-to-trace"
      >
        Show in trace
      </ToolLink>
      {steps.isTruncated[step] ? (
        <span class="tag low" title="Part of the step was not recorded, so averages leave it out">
          not fully recorded
        </span>
      ) : null}
      {steps.outliers?.[step] ? (
        <span class="tag low" title={`It takes ${steps.outliers[step]}`}>
          outlier
        </span>
      ) : null}
    </section>
  );
}
