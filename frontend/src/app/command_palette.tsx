/** The command palette: goes to anything by its name. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Dialog } from "../widgets/overlays/dialog";
import { Listbox } from "../widgets/overlays/listbox";
import type { Command, RunSearch } from "./state/run_search";

interface CommandPaletteProps {
  readonly commands: () => readonly Command[];
  /** Searches the run for further names while the user types. */
  readonly find: RunSearch;
  readonly close: () => void;
}

const LISTED = 120;
const MOST = 20;
const QUIET_MS = 200;

export function CommandPalette({ commands, find, close }: CommandPaletteProps) {
  // The commands are those at the time the palette was opened.
  const known = useMemo(() => commands(), []);
  const [hits, setHits] = useState<readonly Command[]>([]);
  const stop = useRef(() => {});
  useEffect(() => () => stop.current(), []);
  const typed = (query: string) => {
    stop.current();
    const abort = new AbortController();
    const timer = setTimeout(() => {
      let all: readonly Command[] = [];
      find(query, abort.signal, (names) => {
        if (abort.signal.aborted) return;
        // Append: entries that are already listed keep their place.
        all = [...all, ...names];
        setHits(all);
      }).then(
        () => !abort.signal.aborted && setHits(all),
        () => {}, // without an answer, the known commands stay listed
      );
    }, QUIET_MS);
    stop.current = () => {
      clearTimeout(timer);
      abort.abort();
    };
  };
  const listed = useMemo(() => [...known, ...hits], [known, hits]);
  const options = useMemo(
    () =>
      listed.map((command, index) => ({
        id: String(index),
        group: command.kind,
        text: `${command.kind} ${command.name}`,
        content: (
          <>
            <span class="option-kind">{command.kind}</span>
            <span class="option-main">{command.name.slice(0, 300)}</span>
          </>
        ),
      })),
    [listed],
  );
  return (
    <Dialog title="Go to" close={close} className="palette">
      <Listbox
        label="Pages, runs, hosts and names"
        placeholder="Page, run, host, op, kernel, step or event"
        options={options}
        limit={LISTED}
        most={MOST}
        typed={typed}
        choose={(option) => {
          close();
          listed[Number(option.id)].run();
        }}
      />
    </Dialog>
  );
}
