/** Puts a text on the clipboard and says whether that worked. */
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
  const [said, setSaid] = useState("");
  useEffect(() => {
    if (said === "") return;
    const timer = setTimeout(() => setSaid(""), 1500);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = async () => setSaid((await copyText(text())) ? "Copied" : "Not allowed");
  return (
    <>
      <button
        type="button"
        class={className}
        title={title}
        aria-label={title ?? label}
        onClick={copy}
      >
        {said || label}
      </button>
      {/* Beside it: what is inside a button is its name, and is not read out when it changes. */}
      <span class="unseen" role="status">
        {said}
      </span>
    </>
  );
}
