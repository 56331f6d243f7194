/** A card for traces without steps: why, possible markers, and how to mark steps. */
import { formatCount } from "../../base/format";
import { cut, foldName, readableName } from "../../base/names";
import { SmallButton } from "../../widgets/controls/buttons";
import { CopyButton } from "../../widgets/controls/copy_button";
import type { Select } from "../tool";
import type { Marker } from "./markers";

interface NoStepsProps {
  /** null if the page states it elsewhere. */
  readonly reason: string | null;
  readonly markers: readonly Marker[];
  readonly select: Select;
}

const OFFERED = 4;

export function NoSteps({ reason, markers, select }: NoStepsProps) {
  return (
    <section class="card titled no-steps" aria-labelledby="add-markers">
      <h2 id="add-markers" tabIndex={-1}>
        No steps in this trace
      </h2>
      {reason === null ? null : (
        <p>{reason || "Nothing in the trace shows where a step begins."}</p>
      )}
      {markers.length > 0 ? (
        <p class="offers">
          Choose an event that happens once per step:{" "}
          {markers.slice(0, OFFERED).map(({ name, count }) => (
            <SmallButton
              key={name}
              title={name.slice(0, 2000)}
              onClick={() => select({ marker: name })}
            >
              <code>{cut(foldName(readableName(name)), 60)}</code> × {formatCount(count)}
            </SmallButton>
          ))}
        </p>
      ) : null}
      <p>
        {markers.length > 0 ? "Or mark" : "Mark"} the steps in the program and record again, over at
        least three steps:
      </p>
      <div class="recipes">
        {RECIPES.map(({ title, code }) => (
          <section class="recipe" key={title}>
            <header>
              <h3>{title}</h3>
              <CopyButton text={() => code} title={`Copy the code for ${title}`} />
            </header>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard */}
            <pre tabIndex={0}>
              <code>{code}</code>
            </pre>
          </section>
        ))}
      </div>
    </section>
  );
}

const RECIPES: readonly { readonly title: string; readonly code: string }[] = [
  {
    title: "TensorFlow",
    code: `for step in range(steps):
    with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
        train_step(next(data))  # next() belongs to the step`,
  },
  {
    title: "JAX",
    code: `for step in range(steps):
    with jax.profiler.StepTraceAnnotation("train", step_num=step):
        state = train_step(state, next(data))`,
  },
  {
    title: "PyTorch/XLA",
    code: `import torch_xla.debug.profiler as xp

for step, batch in enumerate(loader):
    with xp.StepTrace("train", step_num=step):
        train_step(batch)`,
  },
];
