/** The form of a capture: three groups of choices, and a connection test. */
import type { ComponentChildren, Ref } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { ApiError, describeProblem } from "../api/errors";
import type { CaptureConfig } from "../api/types";
import { SmallButton, Switch } from "../widgets/controls/buttons";
import { testConnections } from "./api";
import { type Choices, isPreset, PRESETS, recentAddresses } from "./choices";
import type { Tested } from "./types";
import type { CaptureModel } from "./use_capture";

interface CaptureFormProps {
  readonly model: CaptureModel;
  readonly config: CaptureConfig;
  readonly wrongField: keyof Choices | undefined;
}

const HOST_LEVELS: readonly (readonly [string, string])[] = [
  ["0", "Off"],
  ["1", "1: program annotations"],
  ["2", "2: expensive operations"],
  ["3", "3: all operations"],
];
const SWITCH: readonly (readonly [string, string])[] = [
  ["0", "Off"],
  ["1", "On"],
];

export function CaptureForm({ model, config, wrongField }: CaptureFormProps) {
  const { choices, choose, isStarting } = model;
  const [tested, setTested] = useState<readonly Tested[] | null>(null);
  const [isTesting, setTesting] = useState(false);
  const [testError, setTestError] = useState<unknown>(null);
  const recent = recentAddresses().filter((address) => address !== choices.addresses);
  const listId = useId();
  const first = useRef<HTMLInputElement>(null);
  useEffect(() => first.current?.focus(), []);
  // Test results are void once the addresses change.
  useEffect(() => setTested(null), [choices.addresses, choices.workers]);

  const test = () => {
    setTesting(true);
    setTestError(null);
    model
      .post((token) => testConnections(choices, token, new AbortController().signal))
      .then(setTested, (problem: unknown) => setTestError(problem))
      .finally(() => setTesting(false));
  };
  const problem = testError ?? model.error;
  const wrong = testError instanceof ApiError ? fieldOf(testError) : wrongField;
  const message = problem === null ? "" : sentenceOf(problem);
  const entry = (name: keyof Choices) => ({
    value: String(choices[name]),
    wrong: wrong === name ? message : "",
    change: (value: string) => {
      setTestError(null);
      choose({ [name]: value });
    },
  });

  return (
    <form
      class="capture-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        setTestError(null);
        model.start();
      }}
    >
      <fieldset>
        <legend>Where</legend>
        <TextField
          label="Profile service URLs or TPU names"
          hint="host:port, separated by commas, such as localhost:6009, 10.0.0.2:6009"
          input={first}
          list={listId}
          {...entry("addresses")}
        />
        <datalist id={listId}>
          {recent.map((address) => (
            <option key={address} value={address} />
          ))}
        </datalist>
        <div class="capture-row">
          <SmallButton aria-disabled={isTesting} onClick={() => (isTesting ? undefined : test())}>
            {isTesting ? "Testing…" : "Test connection"}
          </SmallButton>
          {recent.slice(0, 3).map((address) => (
            <button
              type="button"
              class="link capture-recent"
              key={address}
              title={address}
              onClick={() => choose({ addresses: address })}
            >
              {address}
            </button>
          ))}
        </div>
        {tested === null ? null : <TestResults tested={tested} />}
      </fieldset>
      <fieldset>
        <legend>What</legend>
        <div class="capture-row" role="group" aria-label="Presets">
          {PRESETS.map((preset) => (
            <SmallButton
              key={preset.name}
              aria-pressed={isPreset(choices, preset)}
              title={preset.hint}
              onClick={() => choose(preset.choices)}
            >
              {preset.name}
            </SmallButton>
          ))}
        </div>
        <div class="capture-columns">
          <SelectField label="Host tracing" options={HOST_LEVELS} {...entry("hostLevel")} />
          <SelectField label="Device tracing" options={SWITCH} {...entry("deviceLevel")} />
          <SelectField label="Python tracing" options={SWITCH} {...entry("pythonLevel")} />
        </div>
      </fieldset>
      <fieldset>
        <legend>How long</legend>
        <div class="capture-columns">
          <TextField label="Duration (ms)" {...entry("durationMs")} isNumber />
          <TextField label="Start after (ms)" {...entry("delayMs")} isNumber />
          <TextField label="Automatic retries" {...entry("retries")} isNumber />
        </div>
      </fieldset>
      <details
        open={wrong === "workers" || wrong === "run" || wrong === "advanced" ? true : undefined}
      >
        <summary>More</summary>
        <div class="capture-columns">
          <TextField label="Run name" hint="default: the current time" {...entry("run")} />
          <TextField
            label="Worker list (TPU)"
            hint="the first worker’s analysis service captures all of them"
            {...entry("workers")}
          />
        </div>
        <Switch isOn={choices.hasHlo} turn={(isOn) => choose({ hasHlo: isOn })}>
          Include XLA programs (HLO)
        </Switch>
        <AreaField label="Profiler options, one name=value per line" {...entry("advanced")} />
      </details>
      <footer>
        <span class="muted one-line">
          The new run is written to <code>{config.logdir}</code>
        </span>
        <span class="space" />
        <button type="submit" class="button primary" aria-disabled={isStarting}>
          {isStarting ? "Starting…" : "Capture"}
        </button>
      </footer>
    </form>
  );
}

function fieldOf(error: ApiError): keyof Choices | undefined {
  return error.field === "addresses" || error.field === "workers" ? error.field : undefined;
}

function sentenceOf(error: unknown): string {
  const { message, hint } = describeProblem(error);
  return hint === "" ? message : `${message}: ${hint}`;
}

interface FieldProps {
  readonly label: string;
  readonly hint?: string;
  readonly value: string;
  readonly wrong: string;
  readonly change: (value: string) => void;
}

interface LabeledProps extends FieldProps {
  /** The field, with the attributes that all kinds of fields have. */
  readonly children: (attributes: {
    id: string;
    value: string;
    "aria-invalid": boolean;
    "aria-describedby": string;
  }) => ComponentChildren;
}

function Labeled({ label, hint = "", value, wrong, children }: LabeledProps) {
  const id = useId();
  const described = `${id}-more`;
  return (
    <div class="capture-field">
      <label for={id}>{label}</label>
      {children({ id, value, "aria-invalid": wrong !== "", "aria-describedby": described })}
      <span id={described} class={wrong === "" ? "muted" : "capture-wrong"}>
        {wrong === "" ? hint : wrong}
      </span>
    </div>
  );
}

interface TextFieldProps extends FieldProps {
  readonly list?: string;
  readonly isNumber?: boolean;
  readonly input?: Ref<HTMLInputElement>;
}

function TextField({ list, isNumber = false, input, ...field }: TextFieldProps) {
  return (
    <Labeled {...field}>
      {(attributes) => (
        <input
          {...attributes}
          ref={input}
          type="text"
          inputMode={isNumber ? "numeric" : undefined}
          class={isNumber ? "number" : ""}
          spellcheck={false}
          autoComplete="off"
          list={list}
          onInput={(event) => field.change(event.currentTarget.value)}
        />
      )}
    </Labeled>
  );
}

interface SelectFieldProps extends FieldProps {
  readonly options: readonly (readonly [string, string])[];
}

function SelectField({ options, ...field }: SelectFieldProps) {
  return (
    <Labeled {...field}>
      {(attributes) => (
        <select {...attributes} onChange={(event) => field.change(event.currentTarget.value)}>
          {options.map(([level, name]) => (
            <option key={level} value={level}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Labeled>
  );
}

function AreaField(field: FieldProps) {
  return (
    <Labeled {...field}>
      {(attributes) => (
        <textarea
          {...attributes}
          rows={2}
          spellcheck={false}
          onInput={(event) => field.change(event.currentTarget.value)}
        />
      )}
    </Labeled>
  );
}

const STEPS: Readonly<Record<string, string>> = {
  name: "name",
  tcp: "connection",
  grpc: "gRPC",
  method: "profiler",
};

function TestResults({ tested }: { tested: readonly Tested[] }) {
  return (
    <ul class="plain capture-tested" aria-label="Connections">
      {tested.map((worker) => (
        <li key={worker.address}>
          <code>{worker.address}</code>{" "}
          {worker.isTpuName ? (
            <span class="muted">TPU name, resolved when the capture starts</span>
          ) : (
            worker.steps.map((step) => (
              <span key={step.step} class={step.isOk ? "good" : "bad"} title={step.detail}>
                {step.isOk ? "✓" : "✗"} {STEPS[step.step] ?? step.step}{" "}
              </span>
            ))
          )}
          {worker.message === "" ? null : (
            <div class="capture-wrong">
              {worker.message}: {worker.fix}
            </div>
          )}
        </li>
      ))}
    </ul>
  );
}
