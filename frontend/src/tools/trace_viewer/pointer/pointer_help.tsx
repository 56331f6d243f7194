/** How to move around and what can be searched for. */
import { boundKeys } from "../../../base/keys";
import { KeyList } from "../../../widgets/text/key_list";
import { TIMELINE_KEYS } from "./keys";

const POINTER: readonly (readonly [what: string, does: string])[] = [
  ["Wheel", "scrolls the tracks"],
  ["Ctrl wheel, pinch", "zooms at the pointer"],
  ["Shift wheel", "moves along the time axis"],
  ["Drag", "what the tool says; on the time axis it always zooms"],
  ["Click", "selects the event, marks those of the same name and draws its flows"],
  ["Drag a label", "moves the track"],
];

const QUERIES: readonly (readonly [query: string, finds: string])[] = [
  ["MatMul", "events whose name holds it"],
  ["whole:MatMul", "events of exactly this name"],
  ["category:copies", "events of a category"],
  ["arg:bytes=4096", "events with this value of an argument"],
  ["arg:bytes", "events that have the argument"],
  ["source:model.py", "events whose source line holds it"],
  ["device-op:dense/MatMul", "what a row of Ops counts on devices; host-op: on hosts"],
  ["kernel:gemm op:dense/MatMul", "launches that a row of Kernels counts"],
  ["input-op:Iterator::Root", "what a row of Input counts"],
  ["iterator:Iterator::Root", "what an iterator of tf.data stands for"],
];

export function PointerHelp() {
  const keys = boundKeys.value.flat().filter(({ section }) => section === TIMELINE_KEYS);
  return (
    <div class="trace-queries">
      <h2>How to move around</h2>
      <Definitions items={POINTER} />
      <h2>Keys</h2>
      <div class="trace-keys">
        <KeyList bindings={keys} />
      </div>
      <h2>What can be searched for</h2>
      <Definitions items={QUERIES} isCode />
      <p class="muted">
        <b>.*</b> searches by regular expression, <b>Aa</b> matches case. <kbd>Enter</kbd> goes to
        the next hit, <kbd>Shift</kbd> <kbd>Enter</kbd> to the previous one.
      </p>
      <p class="muted">
        <kbd>?</kbd> lists the keys of the tracks and of tables, too. <b>List</b> shows the events
        of a track as a table.
      </p>
    </div>
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
