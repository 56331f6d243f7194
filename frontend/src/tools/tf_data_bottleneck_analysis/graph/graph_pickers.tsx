/** Pickers of the execution in the graph: host, pipeline, and rank by duration. */
import { useLayoutEffect, useRef } from "preact/hooks";
import { formatCount, formatTime, NOT_MEASURED, plural } from "../../../base/format";
import { SmallButton } from "../../../widgets/controls/buttons";
import { Listbox, type Option } from "../../../widgets/overlays/listbox";
import { Picker, PickerButton } from "../../../widgets/overlays/picker";
import type { Pipeline, TfData } from "../payload";

interface GraphPickersProps {
  readonly data: TfData;
  readonly choosePipeline: (pipeline: Pipeline) => void;
  readonly chooseRank: (rank: number) => void;
}

export function GraphPickers({ data, choosePipeline, chooseRank }: GraphPickersProps) {
  const { graph, pipelines } = data;
  const hosts = [...new Set(pipelines.map(({ host }) => host))];
  const own = pipelines.filter(({ host }) => host === graph.host);
  const chosen = own.find(({ name }) => name === graph.pipeline);
  return (
    <div class="tf-pickers">
      <NamePicker
        label="Host"
        value={graph.host}
        options={() =>
          hosts.map((host) => ({
            id: host,
            text: host,
            isSelected: host === graph.host,
            content: (
              <>
                <span class="option-main">{host.slice(0, 300)}</span>
                <span class="option-note">
                  {pipelineNote(slowest(pipelines.filter((pipeline) => pipeline.host === host)))}
                </span>
              </>
            ),
          }))
        }
        choose={(host) => {
          const slow = slowest(pipelines.filter((pipeline) => pipeline.host === host));
          if (slow) choosePipeline(slow);
        }}
      />
      <NamePicker
        label="Input pipeline"
        value={graph.pipeline}
        options={() =>
          own.map((pipeline) => ({
            id: pipeline.name,
            text: pipeline.name,
            isSelected: pipeline === chosen,
            content: (
              <>
                <span class="option-main">{pipeline.name.slice(0, 300)}</span>
                <span class="option-note">{pipelineNote(pipeline)}</span>
              </>
            ),
          }))
        }
        choose={(name) => {
          const named = own.find((pipeline) => pipeline.name === name);
          if (named) choosePipeline(named);
        }}
      />
      <RankPicker data={data} count={chosen?.calls ?? data.executions.length} choose={chooseRank} />
    </div>
  );
}

/** Host pipelines come before device pipelines, which wait for them. */
export function slowest(pipelines: readonly Pipeline[]): Pipeline | undefined {
  return pipelines.toSorted(
    (a, b) => Number(a.isDevice) - Number(b.isDevice) || (b.max || 0) - (a.max || 0),
  )[0];
}

function pipelineNote(pipeline: Pipeline | undefined): string {
  return pipeline === undefined
    ? ""
    : `up to ${formatTime(pipeline.max)} · ${plural(pipeline.calls, "call")}`;
}

interface NamePickerProps {
  readonly label: string;
  readonly value: string;
  readonly options: () => readonly Option[];
  readonly choose: (id: string) => void;
}

function NamePicker({ label, value, options, choose }: NamePickerProps) {
  return (
    <div class="picker">
      <span class="picker-label">{label}</span>
      <Picker
        value={value.slice(0, 300) || NOT_MEASURED}
        title={`${label}: ${value.slice(0, 300)}`}
        label={label}
        placeholder={`Search ${label.toLowerCase()}s`}
        options={options}
        choose={choose}
        width={360}
      />
    </div>
  );
}

interface RankPickerProps {
  readonly data: TfData;
  /** Executions of the pipeline. */
  readonly count: number;
  readonly choose: (rank: number) => void;
}

/** A field for any rank, since there may be 100,000 of them, and a list of the slowest executions. */
function RankPicker({ data, count, choose }: RankPickerProps) {
  const { graph, executions } = data;
  const last = Math.max(count - 1, 0);
  const duration = graph.nodes.find(({ parent }) => parent < 0)?.total;
  const time = duration === undefined ? NOT_MEASURED : formatTime(duration);
  const field = useRef<HTMLInputElement>(null);
  const isEdited = useRef(false);
  // A response that arrives while the user types must not replace the input.
  useLayoutEffect(() => {
    if (field.current && !isEdited.current) field.current.value = String(graph.rank);
  }, [graph.rank]);
  const goTo = (rank: number) => {
    const target = Math.max(0, Math.min(Math.round(rank), last));
    if (target !== graph.rank && !Number.isNaN(target)) choose(target);
  };
  return (
    <div class="picker tf-rank">
      <span class="picker-label">Rank</span>
      <RankButton
        sign="◂"
        title="Slower execution"
        isOff={graph.rank <= 0}
        run={() => goTo(graph.rank - 1)}
      />
      <input
        type="number"
        ref={field}
        class="tf-rank-field"
        min={0}
        max={last}
        onInput={() => {
          isEdited.current = true;
        }}
        onBlur={() => {
          isEdited.current = false;
        }}
        aria-label={`Rank, 0 to ${last}: 0 is the slowest execution`}
        onChange={(event) => {
          const { value, valueAsNumber } = event.currentTarget;
          isEdited.current = false;
          if (value !== "") goTo(valueAsNumber);
          // Numbers out of range are clamped, and shown as clamped.
          event.currentTarget.value = String(
            Math.max(0, Math.min(Number.isNaN(valueAsNumber) ? graph.rank : valueAsNumber, last)),
          );
        }}
      />
      <RankButton
        sign="▸"
        title="Faster execution"
        isOff={graph.rank >= last}
        run={() => goTo(graph.rank + 1)}
      />
      <PickerButton
        value={time}
        title={`Executions by duration; this one took ${duration === undefined ? "an unknown time" : time}`}
        width={380}
      >
        {(close) => (
          <>
            {count > executions.length ? (
              <p class="listbox-note">
                The {formatCount(executions.length)} slowest of {formatCount(count)}; enter any rank
                in the field.
              </p>
            ) : null}
            <Listbox
              label="Executions"
              placeholder="Search by rank, time or bottleneck"
              options={executions.map(({ rank, start, duration: took, bottleneck, isCut }) => ({
                id: String(rank),
                text: `${rank} ${formatTime(took)} ${bottleneck}`,
                isSelected: rank === graph.rank,
                content: (
                  <>
                    <span class="option-main">
                      Rank {rank}: {formatTime(took)}
                    </span>
                    <span class="option-note">
                      {isCut ? "begun before the recording" : bottleneck.slice(0, 60)} · at{" "}
                      {formatTime(start)}
                    </span>
                  </>
                ),
              }))}
              choose={(option) => {
                close();
                goTo(Number(option.id));
              }}
            />
          </>
        )}
      </PickerButton>
      <span class="muted tf-rank-count">of {plural(count, "execution")}</span>
    </div>
  );
}

interface RankButtonProps {
  readonly sign: string;
  readonly title: string;
  readonly isOff: boolean;
  readonly run: () => void;
}

function RankButton({ sign, title, isOff, run }: RankButtonProps) {
  return (
    <SmallButton title={title} aria-label={title} aria-disabled={isOff} onClick={run}>
      {sign}
    </SmallButton>
  );
}
