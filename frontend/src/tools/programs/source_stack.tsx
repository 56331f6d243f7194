/** The frames that led to an instruction, which the server writes as markup for scripts. */

export function SourceStack({ markup }: { markup: string }) {
  const frames = stackFrames(markup);
  if (frames.length < 2) return null;
  return (
    <details class="source-stack">
      <summary>Stack of {frames.length} frames</summary>
      <ol>
        {frames.map((frame, at) => (
          <li key={`${at} ${frame}`}>
            <code>{frame}</code>
          </li>
        ))}
      </ol>
    </details>
  );
}

/** The innermost first. Nothing of the markup becomes a part of the page: only its text is read. */
export function stackFrames(markup: string): string[] {
  if (markup === "") return [];
  const parsed = new DOMParser().parseFromString(markup, "text/html");
  const title = parsed.querySelector(".source-info-cell")?.getAttribute("title") ?? "";
  return title.split("\n").filter((frame) => frame !== "");
}
