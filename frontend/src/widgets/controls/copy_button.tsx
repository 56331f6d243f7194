/** A button that copies a text and reports whether that worked. */
import { useEffect, useState } from "preact/hooks";
import { copyText } from "../../base/save";

interface CopyButtonProps {
  readonly text: () => string;
  readonly label?: string;
  readonly title?: string;
  readonly className?: string;
}

export function CopyButton({
  text,
  label = "Copy",
  title,
  className = "button small",
}: CopyButtonProps) {
  const [outcome, setOutcome] = useState("");
  useEffect(() => {
    if (outcome === "") return;
    const timer = setTimeout(() => setOutcome(""), 1500);
    return () => clearTimeout(timer);
  }, [outcome]);
  const copy = async () => setOutcome((await copyText(text())) ? "Copied" : "Copy failed");
  return (
    <>
      <button
        type="button"
        class={className}
        title={title}
        aria-label={title ?? label}
        onClick={copy}
      >
        {outcome || label}
      </button>
      {/* Outside: screen readers do not announce changes of a button's own text. */}
      <span class="unseen" role="status">
        {outcome}
      </span>
    </>
  );
}
