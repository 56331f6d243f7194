/** The hits of the search in time order. Scrolling loads more. */
import { useMemo } from "preact/hooks";
import { formatCount } from "../../../base/format";
import { foldName, readableName } from "../../../base/names";
import { SmallButton } from "../../../widgets/controls/buttons";
import { type RowColumn, RowList } from "../../../widgets/row_list/row_list";
import { Name } from "../../../widgets/text/name";
import { formatInstant, formatPs } from "../model/time";
import { indexOf, listHitsInView, type Page } from "../page/page";
import { trackOfRow } from "../page/selection/reveal";
import { choose } from "../page/selection/selected_event";
import type { SearchResults } from "./search_results";

/** How many rows before the last loaded one the next page is requested. */
const AHEAD = 40;

export function HitsPane({ page, hits }: { page: Page; hits: SearchResults }) {
  const { model } = page;
  const { search, hits: list, count, span, listed, hasMore, isLoading } = hits.state.value;
  const hosts = model.hosts.value;
  const zero = model.zero.value;
  const selection = model.selection.value;
  const selected = useMemo(
    () =>
      selection === null
        ? -1
        : list.findIndex(
            (hit) =>
              hit.id === selection.id && hit.host === selection.host && hit.part === selection.part,
          ),
    [list, selection],
  );
  const columns = useMemo((): RowColumn[] => {
    const trackOf = (row: number) => {
      const { host, part, row: at } = list[row];
      return trackOfRow(indexOf(hosts[host], part)?.tracks ?? [], at)?.name ?? "";
    };
    return [
      {
        id: "at",
        title: "At",
        width: 150,
        isNumber: true,
        cell: (row) => formatInstant(list[row].from - zero),
      },
      {
        id: "name",
        title: "Name",
        cell: (row) => <Name text={foldName(readableName(list[row].name))} full={list[row].name} />,
      },
      {
        id: "duration",
        title: "Duration",
        width: 110,
        isNumber: true,
        cell: (row) => formatPs(list[row].durationPs),
      },
      { id: "track", title: "Track", width: 260, cell: (row) => trackOf(row).slice(0, 200) },
      ...(hosts.length > 1
        ? [
            {
              id: "host",
              title: "Host",
              width: 180,
              cell: (row: number) => hosts[list[row].host]?.host ?? "",
            },
          ]
        : []),
    ];
  }, [list, hosts, zero]);
  if (search === null) {
    return (
      <p class="trace-note muted">
        No search yet. <kbd>/</kbd> goes to the search; so does the field above the timeline.
      </p>
    );
  }
  return (
    <>
      <p class="trace-note">
        {isLoading && list.length === 0 ? (
          "Searching"
        ) : (
          <>
            <b>{formatCount(listed)}</b>
            {span ? ` of ${formatCount(count)}` : null} {count === 1 ? "event" : "events"}
            {span
              ? `, from ${formatInstant(span.from - zero)} to ${formatInstant(span.to - zero)}`
              : " in time order"}
          </>
        )}
        {list.length < listed ? (
          <span class="muted">, the first {formatCount(list.length)} loaded</span>
        ) : null}{" "}
        <SmallButton
          onClick={() => {
            if (span) page.listedSpan.value = null;
            else listHitsInView(page);
          }}
        >
          {span ? `List all ${formatCount(count)}` : "List those in view"}
        </SmallButton>
      </p>
      <RowList
        label="Search hits"
        columns={columns}
        length={list.length}
        total={listed}
        selected={selected}
        choose={(row) => choose(page, list[row], list[row], true)}
        seen={(last) => {
          if (hasMore && last >= list.length - AHEAD) hits.more();
        }}
        empty={
          isLoading
            ? "Searching"
            : span && count > 0
              ? "No event was found in this part of the trace."
              : "No event was found."
        }
        of={span ?? search}
      />
    </>
  );
}
