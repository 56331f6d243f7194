/** What to do, in the order in which to try it, with code to copy. */
import { cut } from "../../base/names";
import { CopyButton } from "../../widgets/text/copy_button";
import { FindingList, GuideLink } from "../../widgets/text/finding_list";
import type { TfDataAdvice } from "./payload";

export function AdviceList({ advice }: { advice: readonly TfDataAdvice[] }) {
  return (
    <FindingList
      findings={advice.map((one, at) => ({
        id: `${at} ${one.id}`,
        severity: one.severity,
        title: cut(one.title, 160),
        gain: "",
        notes: "",
        detail: cut(one.detail, 1200),
        action: cut(one.action, 1200),
        links: (
          <>
            {one.code === "" ? null : <Code code={one.code} />}
            <GuideLink title={guideTitle(one.guideUrl)} url={one.guideUrl} />
          </>
        ),
      }))}
    />
  );
}

function Code({ code }: { code: string }) {
  return (
    <span class="tf-code">
      <code>{code}</code>
      <CopyButton text={() => code} label="Copy code" title="Copy code" />
    </span>
  );
}

/** Where a guide is, as much as tells what it is. */
function guideTitle(url: string): string {
  return url.startsWith("https://www.tensorflow.org/") ? "TensorFlow guide" : "Guide";
}
