/** Statistics of step times and waiting shares over the steps. */
import { formatRatio, formatTime, NOT_MEASURED, plural } from "../../base/format";
import { microseconds, ratio } from "../../base/units";
import type { Explanation } from "../../widgets/table/columns";
import { Card } from "../../widgets/text/card";
import type { InputPipeline } from "./payload";
import type { Statistic } from "./statistic";

const SOURCE =
  "The fully recorded typical steps, or with “All steps” all fully recorded ones; every step if none is.";

export function StatisticsRow({ pipeline }: { pipeline: InputPipeline }) {
  return (
    <div class="pipeline-statistics">
      <StatisticCard
        title="Step time"
        statistic={pipeline.stepTime}
        write={(value) => formatTime(microseconds(value))}
        explanation={{
          formula:
            "A step lasts until the next one begins; with several workers, the mean over them. Deviation: sample standard deviation.",
          unit: "time",
          source: SOURCE,
        }}
      />
      <StatisticCard
        title="Waiting for input"
        statistic={pipeline.waitingShare}
        write={(value) => formatRatio(ratio(value / 100))}
        explanation={{
          formula:
            "Average: time that all steps spend waiting for input ÷ time of all steps. Minimum and maximum are over steps and workers.",
          unit: "percent of the step",
          source: SOURCE,
        }}
      />
    </div>
  );
}

interface StatisticCardProps {
  readonly title: string;
  readonly statistic: Statistic;
  readonly write: (value: number) => string;
  readonly explanation: Explanation;
}

function StatisticCard({ title, statistic, write, explanation }: StatisticCardProps) {
  const { average, median, deviation, least, most, count } = statistic;
  const isZero = count > 0 && most === 0;
  const items: readonly (readonly [string, number, string])[] = [
    ["Average", average, "no steps"],
    ["Median", median, "no steps"],
    ["Deviation", deviation, count === 1 ? "one step" : "no steps"],
    ["Minimum", least, "no steps"],
    ["Maximum", most, "no steps"],
  ];
  return (
    <Card
      class="pipeline-statistic"
      title={title}
      why={explanation}
      head={
        <span class="muted">
          over {plural(count, "step")}
          {isZero ? "; none waited" : ""}
        </span>
      }
    >
      <dl>
        {items.map(([name, value, reason]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd title={Number.isNaN(value) ? reason : undefined}>
              {Number.isNaN(value) ? NOT_MEASURED : write(value)}
              {Number.isNaN(value) ? <small class="muted"> {reason}</small> : null}
            </dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}
