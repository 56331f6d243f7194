/** The call stack of an instruction, which the server sends as markup. */

export function SourceStack({ markup }: { markup: string }) {
  const frames = stackFrames(markup);
  if (frames.length < 2) return null;
  return (
    <details class="source-stack">
      <summary>Stack of {frames.length} frames</summary>
      <ol>
        {frames.map((frame, index) => (
          <li key={`${index} ${frame}`}>
            <code>{frame}</code>
          </li>
        ))}
      </ol>
    </details>
  );
}

/** The frames, the innermost first. Only text is read from the markup; none of it is inserted. */
export function stackFrames(markup: string): string[] {
  if (markup === "") return [];
  const parsed = new DOMParser().parseFromString(markup, "text/html");
  const title = parsed.querySelector(".source-info-cell")?.getAttribute("title") ?? "";
  return title.split("\n").filter((frame) => frame !== "");
}
