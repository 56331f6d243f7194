/** Everything that can be gone to, by its name. */
import { useMemo } from "preact/hooks";
import { Dialog } from "../widgets/overlays/dialog";
import { Listbox } from "../widgets/overlays/listbox";

export interface Command {
  readonly kind: string;
  readonly name: string;
  readonly run: () => void;
}

interface CommandPaletteProps {
  readonly commands: () => readonly Command[];
  readonly close: () => void;
}

const LISTED = 60;

export function CommandPalette({ commands, close }: CommandPaletteProps) {
  // What there was when the palette was opened.
  // Asked for once.
  const listed = useMemo(() => commands(), []);
  const options = useMemo(
    () =>
      listed.map((command, at) => ({
        id: String(at),
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
        placeholder="Page, run, host, op or kernel"
        options={options}
        limit={LISTED}
        choose={(option) => {
          close();
          listed[Number(option.id)].run();
        }}
      />
    </Dialog>
  );
}
