/** The details of the selected event. */
import type { ComponentChildren } from "preact";
import { cut, foldName, readableName } from "../../../base/names";
import { LinkButton } from "../../../widgets/controls/buttons";
import { CopyButton } from "../../../widgets/controls/copy_button";
import { ToolLink } from "../../links/tool_link";
import type { Links } from "../../tool";
import { formatInstant, formatPs } from "../model/time";
import type { EventKey } from "../model/types";
import { indexOf, type Page } from "../page/page";
import { revealRow, trackOfRow } from "../page/selection/reveal";
import type { SelectedEvent } from "../page/selection/selected_event";
import type { EventDetails, StatisticsLink } from "../protocol/answers";
import { NoAnswer } from "./answer";
import { EventButton } from "./event_button";
import { FlowList } from "./flow_list";
import { SameName } from "./same_name";
import { StatTable } from "./stat_table";

interface EventPaneProps {
  readonly page: Page;
  readonly selected: SelectedEvent;
  readonly links: Links;
}

const MOST_NAME = 20_000;

export function EventPane({ page, selected, links }: EventPaneProps) {
  const details = selected.details.value;
  const of = selected.of.value;
  const error = selected.error.value;
  if (page.model.selection.value === null) {
    return (
      <p class="trace-note muted">
        No event is selected. Click one in the timeline, or go to one with the arrow keys.
      </p>
    );
  }
  if (error !== null && details === null) return <NoAnswer error={error} />;
  if (!details || !of) return <p class="trace-note muted">Loading the event…</p>;
  return (
    <div class="trace-event" aria-busy={selected.isLoading.value}>
      <EventHead page={page} details={details} of={of} links={links} />
      <div class="trace-event-parts">
        <section class="trace-part" aria-label="Arguments">
          <h2>Arguments</h2>
          <StatTable stats={details.stats} />
          <Folded title="HLO" text={details.hlo?.text ?? ""}>
            {details.hlo ? `${details.hlo.instruction} of ${details.hlo.module}` : ""}
          </Folded>
          <Folded title="Source" text={details.source ?? ""} />
        </section>
        <section class="trace-part" aria-label="Within">
          <h2>Enclosing events</h2>
          <Stack page={page} details={details} of={of} />
        </section>
        <section class="trace-part" aria-label="Events of the same name">
          <SameName page={page} details={details} />
        </section>
        <section class="trace-part" aria-label="Flows">
          <FlowList page={page} flows={selected.flows.value} of={of} id={details.id} />
        </section>
      </div>
    </div>
  );
}

function EventHead({
  page,
  details,
  of,
  links,
}: {
  page: Page;
  details: EventDetails;
  of: EventKey;
  links: Links;
}) {
  const hosts = page.model.hosts.value;
  const host = hosts[of.host];
  const track = trackOfRow(indexOf(host, of.part)?.tracks ?? [], details.row);
  const { name, fullName, durationPs, selfPs, step } = details;
  const short = foldName(readableName(name));
  const readable = readableName(fullName);
  return (
    <header class="trace-event-head">
      <div class="trace-event-name">
        <code>{cut(short, 400) || "(no name)"}</code>
        <CopyButton text={() => fullName} label="Copy name" />
        {details.links.map((link) => (
          <ToolLink
            key={`${link.tool} ${link.label}`}
            links={links}
            tool={link.tool}
            view={link.view}
          >
            {linkText(link, links)}
          </ToolLink>
        ))}
        {readable === short ? null : (
          <details class="trace-fold">
            <summary>Full name</summary>
            <code>{cut(readable, MOST_NAME)}</code>
            {readable === fullName ? null : <code class="muted">{cut(fullName, MOST_NAME)}</code>}
          </details>
        )}
      </div>
      <dl class="trace-facts">
        <Fact label="Start">
          {formatInstant(details.startPs + (host ? host.offsetPs - page.model.zero.value : 0))}
        </Fact>
        <Fact label="Duration">{formatPs(durationPs)}</Fact>
        <Fact label="Self">
          {Number.isNaN(selfPs) ? <span title="Not measured">–</span> : formatPs(selfPs)}
        </Fact>
        <Fact label="Category">{details.category || "–"}</Fact>
        <Fact label="Step">
          {step ? (
            <EventButton page={page} of={{ ...of, id: step.id, part: step.part }}>
              {step.label}
            </EventButton>
          ) : (
            "–"
          )}
        </Fact>
        <Fact label="Track">
          {track ? (
            <LinkButton onClick={() => revealRow(page.model, of, details.row)}>
              {track.name.slice(0, 120)}
            </LinkButton>
          ) : (
            "–"
          )}
        </Fact>
        {hosts.length > 1 ? <Fact label="Host">{host?.host}</Fact> : null}
      </dl>
    </header>
  );
}

/** "Overview: step 77"; the name of a step may be "step 77" or "77". */
function linkText({ tool, label }: StatisticsLink, links: Links): string {
  const what = label.replace(/^Step (step\b)/i, "$1");
  return `${links.short(tool)}: ${cut(what.charAt(0).toLowerCase() + what.slice(1), 120)}`;
}

function Fact({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Stack({ page, details, of }: { page: Page; details: EventDetails; of: EventKey }) {
  const { stack } = details;
  if (stack.length === 0) return <p class="muted">None; it is at the top level of its track.</p>;
  return (
    <ol class="plain trace-stack">
      {stack.map((frame, depth) => (
        <li key={frame.id} style={{ "--depth": Math.min(depth, 12) }}>
          <EventButton page={page} of={{ ...of, id: frame.id }}>
            {cut(foldName(readableName(frame.name)), 200) || "(no name)"}
          </EventButton>
        </li>
      ))}
      <li aria-current="true" style={{ "--depth": Math.min(stack.length, 12) }}>
        {cut(foldName(readableName(details.name)), 200)}
      </li>
    </ol>
  );
}

function Folded({
  title,
  text,
  children,
}: {
  title: string;
  text: string;
  children?: ComponentChildren;
}) {
  if (text === "") return null;
  return (
    <details class="trace-fold">
      <summary>
        {title} <span class="muted">{children}</span>
      </summary>
      <div class="trace-fold-bar">
        <CopyButton text={() => text} label={`Copy ${title}`} />
      </div>
      <pre>{cut(text, 100_000)}</pre>
    </details>
  );
}
