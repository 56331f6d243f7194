/** Busy shares of devices over the whole trace, for the overview strip. */
import { effect, type Signal, signal } from "@preact/signals";
import { busySections } from "../lanes/lane_facts";
import type { HostGroup } from "../model/lanes/groups";
import type { TimelineModel } from "../model/model";
import { sourceOf } from "../model/sources";
import { isStale } from "../protocol/api";

/** A row: a device, or with several hosts a host, as the mean over its devices. */
export interface BusyRow {
  readonly name: string;
  /** Shares 0–1 of equal parts of [from, to) on the common axis. */
  readonly shares: Float32Array;
  readonly from: number;
  readonly to: number;
}

const BUSY_BUCKETS = 1024;

interface BusyRows {
  readonly rows: Signal<readonly BusyRow[]>;
  readonly dispose: () => void;
}

/** Requests the rows of the model's hosts, each once. */
export function followBusy(model: TimelineModel): BusyRows {
  const rows = signal<readonly BusyRow[]>([]);
  const known = new Map<string, readonly Float32Array[]>();
  let abort = new AbortController();
  const stop = effect(() => {
    const groups = model.groups.value;
    abort.abort();
    abort = new AbortController();
    const { signal: aborted } = abort;
    const show = () => {
      rows.value = groups.flatMap((group) => rowsOf(group, groups.length > 1, known));
    };
    show();
    for (const group of groups) {
      if (known.has(keyOf(group))) continue;
      askFor(model, group, aborted).then(
        (shares) => {
          if (aborted.aborted) return;
          known.set(keyOf(group), shares);
          show();
        },
        (error: unknown) => {
          // On failure the strip stays empty; requests for tiles report the error.
          if (isStale(error)) model.stale.value++;
        },
      );
    }
  });
  return {
    rows,
    dispose: () => {
      stop();
      abort.abort();
    },
  };
}

async function askFor(
  { api }: TimelineModel,
  { host, sections }: HostGroup,
  aborted: AbortSignal,
): Promise<readonly Float32Array[]> {
  const source = sourceOf(host, "events");
  const ids = busySections(sections).map((section) => section.ids.events);
  if (!source || ids.length === 0) return [];
  const { version, beginPs, endPs } = host.events;
  const part = { host: host.host, part: "events" as const, version };
  const ascending = [...ids].sort((a, b) => a - b);
  const shares = await api.busy(part, beginPs, endPs, BUSY_BUCKETS, ascending, aborted);
  return ids.map((id) => shares.get(id) ?? new Float32Array(0));
}

function rowsOf(
  group: HostGroup,
  isOneOfSeveral: boolean,
  known: ReadonlyMap<string, readonly Float32Array[]>,
): BusyRow[] {
  const shares = known.get(keyOf(group));
  if (!shares || shares.length === 0) return [];
  const { host } = group;
  const from = host.events.beginPs + host.offsetPs;
  const to = host.events.endPs + host.offsetPs;
  if (isOneOfSeveral) return [{ name: host.host, shares: meanOf(shares), from, to }];
  return busySections(group.sections).map((section, index) => ({
    name: section.label,
    shares: shares[index],
    from,
    to,
  }));
}

/** Bucket by bucket. */
export function meanOf(rows: readonly Float32Array[]): Float32Array {
  const mean = new Float32Array(rows[0]?.length ?? 0);
  for (const row of rows)
    for (let index = 0; index < mean.length; index++) mean[index] += row[index] / rows.length;
  return mean;
}

/** As many rows as fit; neighbors are merged by their mean. */
export function foldRows(rows: readonly BusyRow[], most: number): readonly BusyRow[] {
  if (rows.length <= most) return rows;
  const size = Math.ceil(rows.length / most);
  return Array.from({ length: Math.ceil(rows.length / size) }, (_, index) => {
    const members = rows.slice(index * size, (index + 1) * size);
    const [first, last] = [members[0], members[members.length - 1]];
    return {
      name: members.length > 1 ? `${first.name} to ${last.name}` : first.name,
      shares: meanOf(members.map((row) => row.shares)),
      from: first.from,
      to: first.to,
    };
  });
}

function keyOf({ host }: HostGroup): string {
  return `${host.host}\n${host.events.version}`;
}
