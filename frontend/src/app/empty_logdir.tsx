/** The page of a logdir without runs: what was searched and skipped, and how to record a run. */
import type { Logdir } from "../api/types";
import { formatCount, plural } from "../base/format";
import { SmallButton } from "../widgets/controls/buttons";
import { CopyButton } from "../widgets/controls/copy_button";
import { Diagnoses } from "../widgets/diagnoses";

export function EmptyLogdir({ logdir, capture }: { logdir: Logdir; capture: () => void }) {
  const { searched, ignored, path } = logdir;
  return (
    <main class="page empty-logdir">
      <h1>{logdir.isScanning ? "Looking for profiles…" : "No profiles yet"}</h1>
      <p role="status">
        {logdir.isScanning ? "Searching" : "Searched"} <code>{path}</code>:{" "}
        {plural(searched.directories, "folder")}, {plural(searched.files, "file")}, no{" "}
        <code>plugins/profile/&lt;run&gt;/&lt;host&gt;.xplane.pb</code>.{" "}
        {searched.stopped ? <b>The search stopped early: {searched.stopped}</b> : null}
      </p>
      <p class="muted">
        This page checks again every few seconds and opens the first run that appears.
      </p>
      {ignored.length > 0 ? <Ignored ignored={ignored} /> : null}
      {logdir.isScanning ? null : (
        <Diagnoses run="" said={ignored.map((item) => `skipped: ${item.reason}`)} />
      )}
      <h2>Record a profile</h2>
      <p>
        Remotely: call <code>tf.profiler.experimental.server.start(6009)</code> or{" "}
        <code>jax.profiler.start_server(9999)</code> in the program, then{" "}
        <SmallButton onClick={capture}>Capture profile</SmallButton>
      </p>
      <p>Or from the program itself:</p>
      <div class="recipes">
        {recipes(path).map((recipe) => (
          <section class="card recipe" key={recipe.title}>
            <header>
              <h3>{recipe.title}</h3>
              <CopyButton text={() => recipe.code} title={`Copy the code for ${recipe.title}`} />
            </header>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard */}
            <pre tabIndex={0}>
              <code>{recipe.code}</code>
            </pre>
          </section>
        ))}
      </div>
    </main>
  );
}

const LISTED = 100;

function Ignored({ ignored }: { ignored: Logdir["ignored"] }) {
  return (
    <section>
      <h2>Skipped</h2>
      <ul class="ignored">
        {ignored.slice(0, LISTED).map((item) => (
          <li key={item.path}>
            <code>{item.path}</code> <span class="muted">{item.reason}</span>
          </li>
        ))}
      </ul>
      {ignored.length > LISTED ? <p>and {formatCount(ignored.length - LISTED)} more</p> : null}
    </section>
  );
}

function recipes(path: string): { title: string; code: string }[] {
  const logdir = JSON.stringify(path || "logs");
  return [
    {
      title: "Keras",
      code: `# Profiles batches 10 to 20.
tensorboard = tf.keras.callbacks.TensorBoard(
    log_dir=${logdir}, profile_batch=(10, 20))
model.fit(data, callbacks=[tensorboard])`,
    },
    {
      title: "TensorFlow",
      code: `tf.profiler.experimental.start(${logdir})
for step in range(10):
    with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
        train_step(next(data))
tf.profiler.experimental.stop()`,
    },
    {
      title: "JAX",
      code: `import jax

with jax.profiler.trace(${logdir}):
    for step in range(10):
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            state = train_step(state)
    jax.block_until_ready(state)`,
    },
    {
      title: "PyTorch/XLA",
      code: `import torch_xla.debug.profiler as xp

server = xp.start_server(9012)  # keep it while training runs
xp.trace_detached("localhost:9012", ${logdir}, duration_ms=5000)`,
    },
  ];
}
