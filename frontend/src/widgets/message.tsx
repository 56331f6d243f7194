/** What a view says where it has no data: why, and the way out. */
import type { ComponentChildren } from "preact";
import { describeProblem } from "../api/errors";

export function ErrorMessage({ error, retry }: { error: unknown; retry: () => void }) {
  const problem = describeProblem(error);
  return (
    <Message title={problem.title} isAlert={!problem.isEmpty}>
      <p>{problem.message}</p>
      {problem.hint ? <p class="muted">{problem.hint}</p> : null}
      <p>
        <button type="button" class="button" onClick={retry}>
          Try again
        </button>
      </p>
    </Message>
  );
}

interface MessageProps {
  readonly title: string;
  readonly children?: ComponentChildren;
  readonly isAlert?: boolean;
}

export function Message({ title, children, isAlert = false }: MessageProps) {
  return (
    <section class="message" role={isAlert ? "alert" : undefined}>
      <h1>
        {isAlert ? <span aria-hidden="true">⚠ </span> : null}
        {title}
      </h1>
      {children}
    </section>
  );
}

interface SkeletonProps {
  readonly title: string;
  /** What the server is doing, "" where there is nothing to say. */
  readonly text: string;
  readonly isSplit?: boolean;
}

/** The outline of a page with charts above a table, while its data is on the way. */
export function Skeleton({ title, text, isSplit = false }: SkeletonProps) {
  return (
    <div class="page" aria-busy="true">
      <header class="page-head skeleton-head">
        <h1>{title || "Loading"}</h1>
      </header>
      <div class={isSplit ? "kernel-top" : "cards"}>
        {Array.from({ length: isSplit ? 2 : 4 }, (_, at) => (
          <div class="skeleton skeleton-card" key={at} />
        ))}
      </div>
      <p class="skeleton-text" role="status">
        {text}
      </p>
      <div class="skeleton skeleton-table" />
    </div>
  );
}
