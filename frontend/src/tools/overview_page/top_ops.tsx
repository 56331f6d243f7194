/** The ops with the most self time, with replicas and layers folded or listed separately. */
import { formatRatio, NOT_MEASURED, plural } from "../../base/format";
import { foldName, readableName } from "../../base/names";
import { ratio } from "../../base/units";
import { Switch } from "../../widgets/controls/buttons";
import { familyFilter } from "../../widgets/table/name_folding";
import { Card } from "../../widgets/text/card";
import { Name } from "../../widgets/text/name";
import { TableHead } from "../../widgets/text/table_head";
import { ToolLink } from "../links/tool_link";
import type { Links, Select } from "../tool";
import type { Overview } from "./payload";

const OPS = "framework_op_stats";
const RANK = (
  <>
    <span aria-hidden="true">#</span>
    <span class="unseen">Rank</span>
  </>
);

interface TopOpsProps {
  readonly overview: Overview;
  /** "each", "family", or undefined for the default. */
  readonly chosen: string | undefined;
  readonly select: Select;
  readonly links: Links;
}

export function TopOps({ overview, chosen, select, links }: TopOpsProps) {
  const title = "Top ops";
  const { families, isByFamily: isUsual } = overview;
  const isFolded = families.length > 0 && (chosen ? chosen === "family" : isUsual);
  const ops = isFolded ? families : overview.ops;
  const fold = (isOn: boolean) =>
    select({ top_ops: isOn === isUsual ? null : isOn ? "family" : "each" });
  return (
    <Card
      class="top-ops"
      title={title}
      why={{
        formula:
          "Self time of the op ÷ self time of all ops, without idle time: of the ops on devices, or of those on the host if the program ran on the CPU alone",
        unit: "percent; cumulative: the sum down to the row",
        source: "Device events, by the op that launched them; else the ops of the host.",
      }}
      head={
        <>
          <span class="space" />
          {families.length === 0 ? null : (
            <Switch isOn={isFolded} turn={fold}>
              Fold replicas and layers
            </Switch>
          )}
          <ToolLink links={links} tool={OPS} view={{}}>
            All ops
          </ToolLink>
        </>
      }
    >
      {ops.length === 0 ? (
        <p class="muted">
          No ops are known: none were recorded, or the device events do not name their ops.
        </p>
      ) : (
        <table class="small-table">
          <TableHead titles={[RANK, "Op", "Category", "Self time", "Cumulative"]} />
          <tbody>
            {ops.map(({ name, category, share, running, count }, index) => (
              <tr key={name + index}>
                <td>{index + 1}</td>
                <td>
                  <div class="op-cell">
                    <ToolLink
                      links={links}
                      tool={OPS}
                      view={{
                        "f.operation": isFolded ? familyFilter(name) : `=${name}`,
                        filters: "1",
                      }}
                      className="op-link"
                    >
                      <Name text={foldName(readableName(name))} full={name} />
                    </ToolLink>
                    {count > 1 ? <span class="muted op-count">{plural(count, "op")}</span> : null}
                  </div>
                </td>
                <td>
                  <span class="cut" title={category}>
                    {category.slice(0, 200) || NOT_MEASURED}
                  </span>
                </td>
                <td class="with-bar">
                  <span class="share-bar" style={{ width: `${share * 100 || 0}%` }} />
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
