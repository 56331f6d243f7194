/** The status line: how many events there are, and how many are drawn. */
import { useComputed } from "@preact/signals";
import { describeProblem } from "../../../api/errors";
import { formatCount, plural } from "../../../base/format";
import { describeHosts } from "../model/first_hosts";
import type { TimelineModel } from "../model/model";
import { formatPs } from "../model/time";
import type { Loading } from "../page/load";
import type { Page } from "../page/page";

interface StatusLineProps {
  readonly page: Page;
  readonly loading: Loading;
  /** The chosen hosts, of which the page may show only the first ones. */
  readonly chosen: number;
}

export function StatusLine({ page, loading, chosen }: StatusLineProps) {
  const { model } = page;
  const across = useComputed(() => {
    const { from, to } = model.view.value;
    return `${formatPs(to - from)} across`;
  });
  const drawn = useComputed(() => {
    const { entries, strips } = model.drawn.value;
    if (page.isList.value) return `${formatCount(entries)} listed`;
    if (entries === 0 && strips > 0) return `${plural(strips, "busy strip")} drawn`;
    const more = strips > 0 ? ` and ${plural(strips, "busy strip")}` : "";
    return `${formatCount(entries)} drawn${more}`;
  });
  const details = useComputed(() => {
    const { entries, events, strips } = model.drawn.value;
    if (page.isList.value) return `${plural(entries, "row")} for ${plural(events, "event")}`;
    const counts = `${plural(entries, "rectangle")} for the ${plural(events, "event")} in view`;
    const folded = "Collapsed sections show their busy share; expand them to see their events.";
    if (strips === 0) return counts;
    return entries === 0 ? folded : `${counts}. ${folded}`;
  });
  const inFile = sum(model, (events) => events.eventsInFile);
  const indexed = sum(model, (events) => events.events);
  const derived = model.hosts.value.reduce((total, host) => total + (host.derived?.events ?? 0), 0);
  const hosts = model.hosts.value.length;
  const error = model.error.value;
  const cut =
    page.cutView.value !== null && page.cutView.value === model.view.value
      ? "The address extends beyond the trace; the part inside the trace is shown"
      : "";
  const text = loading.text.value || (model.isLoading.value ? "Loading" : cut);
  if (hosts === 0) return <footer class="trace-status" />;
  return (
    <footer class="trace-status">
      <span>
        {formatCount(inFile)} {inFile === 1 ? "event" : "events"} in {describeHosts(hosts, chosen)}
      </span>
      <span
        title={
          derived > 0
            ? `and ${plural(derived, "event")} derived from them: steps, ops, scopes`
            : undefined
        }
      >
        {formatCount(indexed)} indexed
      </span>
      <span title={details}>{drawn}</span>
      <span>{across}</span>
      <span class="space" />
      {error === null ? (
        <span class="muted" role="status">
          {text}
        </span>
      ) : (
        <span class="trace-error" role="alert">
          {describeProblem(error).message}
        </span>
      )}
    </footer>
  );
}

function sum(
  { hosts }: TimelineModel,
  read: (events: { events: number; eventsInFile: number }) => number,
): number {
  return hosts.value.reduce((total, { events }) => total + read(events), 0);
}
