/** The ops that the device's time goes to. */
import { formatRatio, NOT_MEASURED } from "../../base/format";
import { foldName, readableName } from "../../base/names";
import { ratio } from "../../base/units";
import { Card } from "../../widgets/text/card";
import { Name } from "../../widgets/text/name";
import { ToolLink } from "../links/tool_link";
import type { Links } from "../tool";
import type { TopOp } from "./payload";

const OPS = "framework_op_stats";

export function TopOps({ ops, links }: { ops: readonly TopOp[]; links: Links }) {
  const title = "Top ops";
  const most = Math.max(...ops.map(({ share }) => share || 0));
  return (
    <Card
      class="top-ops"
      title={title}
      why={{
        formula:
          "Self time of the op ÷ self time of all ops, idle time left out: of the ops on devices, or of those on the host where the program ran on the CPU alone",
        unit: "percent; cumulative: the sum down to the row",
        source: "Device events, by the op that launched them; else the ops of the host.",
      }}
      head={
        <>
          <span class="space" />
          <ToolLink links={links} tool={OPS} view={{}}>
            All ops
          </ToolLink>
        </>
      }
    >
      {ops.length === 0 ? (
        <p class="muted">
          No op is known: no work of a device was recorded, or the device's events do not name their
          ops.
        </p>
      ) : (
        <table>
          <thead>
            <tr>
              <th scope="col">
                <span aria-hidden="true">#</span>
                <span class="unseen">Rank</span>
              </th>
              <th scope="col">Op</th>
              <th scope="col">Category</th>
              <th scope="col">Self time</th>
              <th scope="col">Cumulative</th>
            </tr>
          </thead>
          <tbody>
            {ops.map(({ name, category, share, running }, at) => (
              <tr key={name + at}>
                <td>{at + 1}</td>
                <td>
                  <ToolLink
                    links={links}
                    tool={OPS}
                    view={{ "f.operation": `=${name}`, filters: "1" }}
                    className="op-link"
                  >
                    <Name text={foldName(readableName(name))} full={name} />
                  </ToolLink>
                </td>
                <td>
                  <span class="cut" title={category}>
                    {category.slice(0, 200) || NOT_MEASURED}
                  </span>
                </td>
                <td class="with-bar">
                  <span class="share-bar" style={{ width: `${(share / most) * 100 || 0}%` }} />
                  <span class="bar-text">{formatRatio(ratio(share))}</span>
                </td>
                <td>{formatRatio(ratio(running))}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Card>
  );
}
