/** Messages in place of a page: errors, empty states and loading states. */
import type { ComponentChildren } from "preact";
import { describeProblem } from "../../api/errors";
import { sentence } from "../../base/format";
import { LinkButton } from "../controls/buttons";

interface ErrorMessageProps {
  readonly error: unknown;
  readonly retry: () => void;
  /** Further content, such as links to other pages. */
  readonly children?: ComponentChildren;
}

export function ErrorMessage({ error, retry, children }: ErrorMessageProps) {
  const problem = describeProblem(error);
  return (
    <Message title={problem.title} isAlert={problem.isFailure}>
      <p>{sentence(problem.message)}</p>
      {problem.hint ? <p class="muted">{sentence(problem.hint)}</p> : null}
      <p>
        <button type="button" class="button" onClick={retry}>
          {problem.again}
        </button>
      </p>
      {children}
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

/**
 * "cards": a row of charts; "split": one with figures beside it; "steps": figures above two charts;
 * "aside": a chart beside a narrow card; "bleed": one picture without margins.
 */
export type Outline = "cards" | "split" | "steps" | "aside" | "bleed";

interface SkeletonProps {
  readonly title: string;
  /** What the server is doing, or "". */
  readonly text: string;
  readonly outline?: Outline;
  /** Aborts loading. */
  readonly cancel?: () => void;
}

interface DoingProps {
  readonly class: string;
  readonly text: string;
  readonly cancel?: () => void;
}

/** What the server is doing while the user waits, and a button to cancel it. */
export function Doing({ class: name, text, cancel }: DoingProps) {
  return (
    <div class={name}>
      <span role="status">{text}</span>
      {cancel ? <LinkButton onClick={cancel}>Cancel</LinkButton> : null}
    </div>
  );
}

/** The skeleton of a page while its data is loading. */
export function Skeleton({ title, text, outline = "cards", cancel }: SkeletonProps) {
  if (outline === "bleed") {
    return (
      <div class="bleed" aria-busy="true">
        <h1 class="unseen">{title || "Loading"}</h1>
        <Doing class="stale-text" text={text || `${title}: loading`} />
      </div>
    );
  }
  return (
    <div class="page" aria-busy="true">
      <header class="page-head skeleton-head">
        <h1>{title || "Loading"}</h1>
      </header>
      {outline === "steps" ? (
        <>
          <Blocks among="" count={1} kind="skeleton-line" />
          <Blocks among="tiles" count={5} kind="skeleton-tile" />
          <Blocks among="two-thirds" count={2} kind="skeleton-chart" />
        </>
      ) : outline === "aside" ? (
        <Blocks among="with-aside" count={2} kind="skeleton-chart" />
      ) : (
        <Blocks
          among={outline === "split" ? "kernel-top" : "cards"}
          count={outline === "split" ? 2 : 4}
          kind="skeleton-card"
        />
      )}
      <Doing
        class="skeleton-text"
        text={text || `${title || "The run"}: loading`}
        // Cancel is offered only when loading takes long enough for progress to be reported.
        cancel={text === "" ? undefined : cancel}
      />
      <div class="skeleton skeleton-table" />
    </div>
  );
}

function Blocks({ among, count, kind }: { among: string; count: number; kind: string }) {
  return (
    <div class={among}>
      {Array.from({ length: count }, (_, index) => (
        <div class={`skeleton ${kind}`} key={index} />
      ))}
    </div>
  );
}
