/** The threads that work for the pipeline and those that wait for it, in separate cards. */
import { useState } from "preact/hooks";
import { columnScale, formatCount, NOT_MEASURED } from "../../../base/format";
import type { View } from "../../../base/url_state";
import { LinkButton } from "../../../widgets/controls/buttons";
import type { Explanation } from "../../../widgets/table/columns";
import { Card } from "../../../widgets/text/card";
import { Name } from "../../../widgets/text/name";
import { TableHead } from "../../../widgets/text/table_head";
import { EventLink } from "../../links/trace_link";
import { inputOpEvents, namedEvents } from "../../links/trace_links";
import type { Links } from "../../tool";
import type { Activity } from "../payload";

const SHOWN = 6;

interface ActivitiesProps {
  readonly activities: readonly Activity[];
  readonly links: Links;
}

export function Activities({ activities, links }: ActivitiesProps) {
  if (activities.length === 0) return null;
  return (
    <div class="halves">
      <ActivityCard
        title="Where threads wait"
        activities={activities.filter(({ isWaiting }) => isWaiting)}
        links={links}
        nothing="Nothing waited for input."
        explanation={{
          formula:
            "Time that threads spend waiting for an element of the pipeline: the program in its iterator, stages in the stage before them.",
          unit: "time; self time excludes nested activities",
          source: "Host events of iterators that return what other threads produced.",
        }}
      />
      <ActivityCard
        title="Where threads work"
        activities={activities.filter(({ isWaiting }) => !isWaiting)}
        links={links}
        nothing="No thread worked on input."
        explanation={{
          formula:
            "Time that threads spend producing elements: reading, mapping, batching, copying. It does not lengthen steps as long as it keeps ahead of them.",
          unit: "time; self time excludes nested activities",
          source: "Host events of the pipeline's stages.",
        }}
      />
    </div>
  );
}

interface ActivityCardProps {
  readonly title: string;
  readonly activities: readonly Activity[];
  readonly links: Links;
  readonly nothing: string;
  readonly explanation: Explanation;
}

function ActivityCard(props: ActivityCardProps) {
  const { title, activities, links, nothing, explanation } = props;
  const [isWhole, showAll] = useState(false);
  const shown = isWhole ? activities : activities.slice(0, SHOWN);
  const most = activities.reduce((top, { total }) => Math.max(top, total), 0);
  const scale = columnScale("time", most);
  const hidden = activities.length - SHOWN;
  return (
    <Card class="pipeline-activity" title={title} why={explanation}>
      {activities.length === 0 ? (
        <p class="muted">{nothing}</p>
      ) : (
        <table class="small-table">
          <TableHead
            titles={[
              "Activity",
              "Thread",
              "Count",
              `Self (${scale.unit})`,
              `Total (${scale.unit})`,
            ]}
          />
          <tbody>
            {shown.map(({ name, thread, count, self, total, category, op }, index) => (
              <tr key={index}>
                <th scope="row" title={[category, op && `for ${op}`].filter(Boolean).join(", ")}>
                  <EventLink links={links} view={activityEvents(name, op)}>
                    <Name text={name} full={op && op !== name ? `${name}, for ${op}` : name} />
                  </EventLink>
                </th>
                <td>
                  <span class="cut" title={thread}>
                    {thread.slice(0, 200) || NOT_MEASURED}
                  </span>
                </td>
                <td>{formatCount(count)}</td>
                <td>{scale.format(self)}</td>
                <td>{scale.format(total)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {hidden > 0 ? (
        <LinkButton aria-expanded={isWhole} onClick={() => showAll(!isWhole)}>
          {isWhole ? `Show the first ${SHOWN}` : `Show ${formatCount(hidden)} more`}
        </LinkButton>
      ) : null}
    </Card>
  );
}

/** The server's name for executions of captured functions, whose events have other names. */
const FUNCTION_OPS = "Ops of captured functions";

function activityEvents(name: string, op: string): View | null {
  if (name === FUNCTION_OPS) return null;
  return name === op ? inputOpEvents(name) : namedEvents(name);
}
