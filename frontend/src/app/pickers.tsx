/** The run picker and the host picker in the bar. */
import type { Run, Session } from "../api/types";
import { formatBytes, formatDate, plural } from "../base/format";
import { Listbox, type Option } from "../widgets/overlays/listbox";
import { Picker, PickerButton } from "../widgets/overlays/picker";

interface RunPickerProps {
  readonly runs: readonly Run[];
  readonly fresh: ReadonlySet<string>;
  readonly run: string;
  readonly choose: (run: string) => void;
}

export function RunPicker({ runs, fresh, run, choose }: RunPickerProps) {
  const unseen = runs.filter(
    (candidate) => fresh.has(candidate.name) && candidate.name !== run,
  ).length;
  return (
    <div class="picker" style={{ "--letters": run.length || 1 }}>
      <span class="picker-label">Run</span>
      <Picker
        value={run || "–"}
        mark={unseen > 0 ? <span class="new">{unseen} new</span> : null}
        title={unseen > 0 ? `Run ${run}, ${plural(unseen, "new run")}` : `Run ${run}`}
        label="Runs"
        placeholder="Search runs"
        options={() => runs.map((candidate) => runOption(candidate, run, fresh))}
        choose={choose}
        width={460}
      />
    </div>
  );
}

function runOption(run: Run, current: string, fresh: ReadonlySet<string>): Option {
  return {
    id: run.name,
    text: run.name,
    isSelected: run.name === current,
    content: (
      <>
        <span class="option-main">
          {run.name}
          {fresh.has(run.name) ? <span class="new">new</span> : null}
        </span>
        <span class="option-note">
          {formatDate(run.modified)} · {plural(run.hosts, "host")} · {formatBytes(run.bytes)}
        </span>
      </>
    ),
  };
}

interface HostPickerProps {
  readonly session: Session | null;
  /** null: all. */
  readonly hosts: readonly string[] | null;
  readonly isSingle: boolean;
  readonly choose: (hosts: readonly string[] | null) => void;
}

const ALL = "\u0000all";

export function HostPicker({ session, hosts, isSingle, choose }: HostPickerProps) {
  const all = session?.hosts ?? [];
  const value = hostsText(all.length, hosts, all[0]?.name);
  const pick = (option: Option, close: () => void) => {
    if (option.id === ALL) choose(null);
    else if (isSingle) choose([option.id]);
    else choose(toggleHost(hosts, option.id, all.length));
    if (isSingle || option.id === ALL) close();
  };
  return (
    <div class="picker" style={{ "--letters": value.length }}>
      <span class="picker-label">Hosts</span>
      <PickerButton value={value} title={`Hosts: ${value}`} width={360}>
        {(close) => (
          <>
            {isSingle ? <p class="listbox-note">This page shows one host at a time.</p> : null}
            <Listbox
              label="Hosts"
              placeholder="Search hosts"
              isMultiple={!isSingle}
              options={hostOptions(all, hosts, isSingle)}
              choose={(option) => pick(option, close)}
            />
          </>
        )}
      </PickerButton>
    </div>
  );
}

function hostOptions(
  all: Session["hosts"],
  chosen: readonly string[] | null,
  isSingle: boolean,
): Option[] {
  const options: Option[] = all.map((host) => ({
    id: host.name,
    text: host.name,
    isSelected: chosen === null ? !isSingle || host === all[0] : chosen.includes(host.name),
    content: (
      <>
        <span class="option-main">
          <span class="menu-mark" aria-hidden="true">
            {(chosen === null && !isSingle) || chosen?.includes(host.name) ? "✓" : ""}
          </span>
          {host.name}
        </span>
        <span class="option-note">
          {host.error ? `⚠ ${host.error.message}` : formatBytes(host.bytes)}
        </span>
      </>
    ),
  }));
  if (isSingle || all.length < 2) return options;
  const whole: Option = {
    id: ALL,
    text: `All ${plural(all.length, "host")}`,
    isSelected: chosen === null,
  };
  return [whole, ...options];
}

/** With all hosts chosen, a click chooses that host alone; later clicks add and remove hosts. */
function toggleHost(
  hosts: readonly string[] | null,
  name: string,
  count: number,
): readonly string[] | null {
  if (hosts === null) return [name];
  const next = hosts.includes(name) ? hosts.filter((host) => host !== name) : [...hosts, name];
  return next.length === 0 || next.length === count ? null : next;
}

function hostsText(
  count: number,
  hosts: readonly string[] | null,
  first: string | undefined,
): string {
  if (hosts === null) return count === 1 ? (first ?? "–") : count === 0 ? "–" : `all ${count}`;
  return hosts.length === 1 ? hosts[0] : `${hosts.length} of ${count}`;
}
