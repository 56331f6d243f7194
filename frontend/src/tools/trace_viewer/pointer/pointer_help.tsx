/** Help text of the page: how to move around and what can be searched for. */

const POINTER: readonly (readonly [what: string, does: string])[] = [
  ["Wheel", "scrolls the tracks"],
  ["Ctrl wheel, pinch", "zooms at the pointer"],
  ["Shift wheel", "pans along the time axis"],
  ["Drag", "depends on the tool; on the time axis it zooms"],
  ["Click", "selects the event, marks those of the same name and draws its flows"],
  ["Drag a label", "moves the track"],
];

const QUERIES: readonly (readonly [query: string, finds: string])[] = [
  ["MatMul", "events whose name contains it"],
  ["whole:MatMul", "events of exactly this name"],
  ["category:copies", "events of a category"],
  ["arg:bytes=4096", "events with this value of an argument"],
  ["arg:bytes", "events that have the argument"],
  ["source:model.py", "events whose source line contains it"],
  ["device-op:dense/MatMul", "what a row of Ops counts on devices; host-op: on hosts"],
  ["kernel:gemm op:dense/MatMul", "launches that a row of Kernels counts"],
  ["instruction:fusion.1 program:17", "what a row of Programs counts"],
  ["input-op:Iterator::Root", "what a row of Input counts"],
  ["iterator:Iterator::Root", "the calls of a tf.data iterator"],
];

export function PointerHelp() {
  return (
    <>
      <section>
        <h3>How to move around</h3>
        <Definitions items={POINTER} />
        <p class="muted">
          <b>List</b> shows the events of a track as a table, for the keyboard.
        </p>
      </section>
      <section class="trace-queries">
        <h3>What you can search for</h3>
        <Definitions items={QUERIES} isCode />
        <p class="muted">
          <b>.*</b> searches by regular expression, <b>Aa</b> matches case. <kbd>Enter</kbd> goes to
          the next hit, <kbd>Shift</kbd> <kbd>Enter</kbd> to the previous one.
        </p>
      </section>
    </>
  );
}

function Definitions({
  items,
  isCode = false,
}: {
  items: readonly (readonly [string, string])[];
  isCode?: boolean;
}) {
  return (
    <dl>
      {items.map(([what, does]) => (
        <div key={what}>
          <dt>{isCode ? <code>{what}</code> : what}</dt>
          <dd>{does}</dd>
        </div>
      ))}
    </dl>
  );
}
