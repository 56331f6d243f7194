/** The flows of the event: its causes and effects; a click goes there. */
import { plural } from "../../../base/format";
import { cut, foldName, readableName } from "../../../base/names";
import { formatPs } from "../model/time";
import type { EventKey } from "../model/types";
import { indexOf, type Page } from "../page/page";
import { goTo, trackOfRow } from "../page/selection/reveal";
import type { EventAt, Flow, Flows } from "../protocol/answers";

interface FlowListProps {
  readonly page: Page;
  /** null while loading. */
  readonly flows: Flows | null;
  readonly of: EventKey;
  readonly id: number;
}

const LISTED = 100;

const KINDS: Readonly<Record<string, readonly [out: string, into: string]>> = {
  launch: ["launches", "launched by"],
  produce: ["produces for", "consumes from"],
  async: ["begins", "ends what began with"],
  flow: ["leads to", "follows"],
};

export function FlowList({ page, flows, of, id }: FlowListProps) {
  const listed = flows?.flows.slice(0, LISTED) ?? [];
  const rest = (flows?.total ?? 0) - listed.length;
  return (
    <>
      <h2>Flows{flows && flows.total > 0 ? ` (${flows.total})` : ""}</h2>
      {flows === null ? (
        <p class="muted">Searching for flows…</p>
      ) : flows.total === 0 ? (
        <p class="muted">None: no causes or effects are known.</p>
      ) : (
        <ul class="plain trace-flows">
          {listed.map((flow, index) => (
            <FlowItem key={index} page={page} flow={flow} of={of} id={id} />
          ))}
        </ul>
      )}
      {rest > 0 ? <p class="muted">and {plural(rest, "more flow")}</p> : null}
    </>
  );
}

function FlowItem({ page, flow, of, id }: { page: Page; flow: Flow; of: EventKey; id: number }) {
  const isOut = flow.from.id === id;
  const other: EventAt = isOut ? flow.to : flow.from;
  const words = KINDS[flow.kind] ?? KINDS.flow;
  // Other links of a chain connect other events.
  const isDirect = isOut || flow.to.id === id;
  const host = page.model.hosts.value[of.host];
  const track = trackOfRow(indexOf(host, of.part)?.tracks ?? [], other.row);
  const delay = flow.to.startPs - flow.from.startPs;
  return (
    <li>
      <span class="muted">{isDirect ? words[isOut ? 0 : 1] : "on the way"}</span>{" "}
      <button
        type="button"
        class="link trace-link"
        onClick={() => goTo(page.model, { ...of, id: other.id }, other)}
      >
        {cut(foldName(readableName(other.name)), 160) || "(no name)"}
      </button>{" "}
      <span class="muted">
        {delay >= 0 ? `${formatPs(delay)} ${isOut ? "later" : "before"}` : ""}
        {track ? ` · ${track.name.slice(0, 80)}` : ""}
      </span>
    </li>
  );
}
