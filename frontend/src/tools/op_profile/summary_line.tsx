/** The summary sentence: the program with the most time, its use of the peaks, wasted time. */
import { formatRatio, plural } from "../../base/format";
import { cut } from "../../base/names";
import { ratio } from "../../base/units";
import { Explained } from "../../widgets/overlays/why";
import type { Profile } from "./payload";
import { findSummary } from "./summary";
import { formatPicoseconds, formatShare } from "./tree/node_facts";

const LONGEST = 80;
/** The smallest share that is mentioned. */
const LITTLE = 0.0005;

export function SummaryLine({ profile }: { profile: Profile }) {
  const { program, share, used, bound, wasted, unknown, whole } = findSummary(profile);
  const { deviceType, devices } = profile;
  const where =
    deviceType === "CPU"
      ? "of the CPU's time in ops"
      : `of op time on ${plural(devices, deviceType)}`;
  const part = (ps: number) => formatRatio(ratio(whole > 0 ? ps / whole : 0));
  return (
    <p class="card verdict program-summary">
      <span>
        <b>
          {cut(program, LONGEST)} takes {formatRatio(ratio(share))}
        </b>{" "}
        {where}
        {Number.isNaN(used) ? "" : `, at ${formatShare(used)} of ${bound}`}.{" "}
        {Number.isNaN(wasted) ? (
          <>The peak rates of this device are unknown, so wasted time cannot be computed. </>
        ) : (
          <>
            Of all {formatPicoseconds(whole)}, {formatPicoseconds(wasted)} ({part(wasted)}) is{" "}
            <Explained label="wasted" title="Wasted time" explanation={WASTED} />.{" "}
          </>
        )}
        {!Number.isNaN(wasted) && unknown > LITTLE * whole
          ? `For ${part(unknown)}, this is unknown. `
          : ""}
      </span>
    </p>
  );
}

export const WASTED = {
  formula:
    "Self time × (1 − the larger of FLOP rate ÷ peak FLOP rate and HBM bandwidth ÷ peak bandwidth), summed over ops",
  unit: "time on all devices; 0 for ops above a peak",
  source:
    "Work recorded by the device, or derived from the shapes in the program. Ops with unknown work or peak are left out.",
};
