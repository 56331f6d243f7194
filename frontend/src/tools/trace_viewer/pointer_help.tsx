/** How to move around and what can be searched for; all keys are in the help of the shell. */

const POINTER: readonly (readonly [what: string, does: string])[] = [
  ["Wheel", "scrolls the tracks"],
  ["Ctrl wheel, pinch", "zooms at the pointer"],
  ["Shift wheel", "moves along the time axis"],
  ["Drag", "what the tool says; on the time axis it always zooms"],
  ["Click", "selects the event, marks its like and draws its flows"],
  ["Drag a label", "moves the track"],
];

const KEYS: readonly (readonly [keys: string, does: string])[] = [
  ["W S", "nearer, farther"],
  ["A D", "earlier, later"],
  ["← →", "event before, next event of the track"],
  ["↑ ↓", "event around, event within"],
  ["F 0", "fit the selection, show all"],
  ["M", "mark the selection or the pointer's place"],
  ["/", "search"],
];

const QUERIES: readonly (readonly [query: string, finds: string])[] = [
  ["MatMul", "events whose name holds it"],
  ["whole:MatMul", "events of exactly this name"],
  ["category:copies", "events of a category"],
  ["arg:bytes=4096", "events with this value of an argument"],
  ["arg:bytes", "events that have the argument"],
  ["source:model.py", "events whose source line holds it"],
  [
    "kernel:gemm",
    "events that a row of another page counts; device-op:, host-op:, input-op: alike",
  ],
];

export function PointerHelp() {
  return (
    <div class="trace-queries">
      <h2>How to move around</h2>
      <Definitions items={POINTER} />
      <h2>Keys</h2>
      <Definitions items={KEYS} isKeys />
      <h2>What can be searched for</h2>
      <Definitions items={QUERIES} isCode />
      <p class="muted">
        <b>.*</b> takes the text for a regular expression, <b>Aa</b> tells large letters from small
        ones. <kbd>Enter</kbd> goes to the next hit, <kbd>Shift</kbd> <kbd>Enter</kbd> to the one
        before.
      </p>
      <p class="muted">
        <kbd>?</kbd> lists all keys. <b>List</b> shows the events of a track as a table.
      </p>
    </div>
  );
}

function Definitions({
  items,
  isKeys = false,
  isCode = false,
}: {
  items: readonly (readonly [string, string])[];
  isKeys?: boolean;
  isCode?: boolean;
}) {
  return (
    <dl>
      {items.map(([what, does]) => (
        <div key={what}>
          <dt>
            {isKeys ? what.split(" ").map((key) => <kbd key={key}>{key}</kbd>) : null}
            {isCode ? <code>{what}</code> : null}
            {isKeys || isCode ? null : what}
          </dt>
          <dd>{does}</dd>
        </div>
      ))}
    </dl>
  );
}
