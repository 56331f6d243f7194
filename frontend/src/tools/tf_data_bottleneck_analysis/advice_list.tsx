/** Advice in the order in which to try it, with code to copy. */
import { cut } from "../../base/names";
import { CopyButton } from "../../widgets/controls/copy_button";
import { FindingList, GuideLink } from "../../widgets/text/finding_list";
import type { TfDataAdvice } from "./payload";

export function AdviceList({ advice }: { advice: readonly TfDataAdvice[] }) {
  return (
    <FindingList
      findings={advice.map((piece, index) => ({
        id: `${index} ${piece.id}`,
        severity: piece.severity,
        title: cut(piece.title, 160),
        gain: "",
        notes: "",
        detail: cut(piece.detail, 1200),
        action: cut(piece.action, 1200),
        links: (
          <>
            {piece.code === "" ? null : <Code code={piece.code} />}
            <GuideLink title={guideTitle(piece.guideUrl)} url={piece.guideUrl} />
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

/** A short name for a guide, by its address. */
function guideTitle(url: string): string {
  return url.startsWith("https://www.tensorflow.org/") ? "TensorFlow guide" : "Guide";
}
