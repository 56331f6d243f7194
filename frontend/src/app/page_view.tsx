/** The page of one tool in one of its states: loading, empty, failed or loaded. */
import { describeProblem, isUnreachable } from "../api/errors";
import type { SessionTool } from "../api/types";
import { sentence } from "../base/format";
import type { PageProps } from "../tools/tool";
import { TOOLS } from "../tools/tools";
import { Checked } from "../widgets/checked";
import { LinkButton } from "../widgets/controls/buttons";
import { Doing, ErrorMessage, Message, Skeleton } from "../widgets/text/message";
import type { PayloadState } from "./state/use_payload";

interface PageViewProps extends Omit<PageProps<unknown>, "payload"> {
  readonly tool: string;
  readonly session: SessionTool | undefined;
  readonly state: PayloadState;
  /** What the server is doing, or "". */
  readonly doing: string;
  readonly retry: () => void;
  readonly others: readonly { readonly name: string; readonly title: string }[];
  readonly openTool: (tool: string) => void;
}

export function PageView(props: PageViewProps) {
  const { tool, title, session, state } = props;
  if (!TOOLS[tool]) {
    return (
      <Message title={`There is no page “${title.slice(0, 200)}”`}>
        <Others {...props} />
      </Message>
    );
  }
  if (session && !session.isAvailable) {
    return (
      <Message title={`${title}: nothing to show`}>
        <p>{sentence(session.reason ?? "")}</p>
        {session.hint === "" ? null : <p class="muted">{sentence(session.hint)}</p>}
        <Others {...props} />
        <Checked run={props.run} said={[session.reason ?? ""]} />
      </Message>
    );
  }
  if (state.error !== null && state.loaded === null) {
    return (
      <ErrorMessage error={state.error} retry={props.retry}>
        {describeProblem(state.error).isFailure && !isUnreachable(state.error) ? (
          <Checked run={props.run} />
        ) : null}
      </ErrorMessage>
    );
  }
  if (!state.loaded)
    return (
      <Skeleton
        title={title}
        outline={TOOLS[tool].outline}
        text={props.doing}
        cancel={state.cancel}
      />
    );
  const { tool: module, payload } = state.loaded;
  const emptiness = module.emptiness(payload);
  if (emptiness !== null) {
    return (
      <Message title={`${title}: nothing to show`}>
        <p>{sentence(emptiness)}</p>
        <Others {...props} />
        <Checked run={props.run} said={[emptiness]} />
      </Message>
    );
  }
  return (
    <div class={state.isLoading ? "stale" : ""} aria-busy={state.isLoading}>
      {state.isLoading && props.doing ? (
        <Doing class="stale-text" text={props.doing} cancel={state.cancel} />
      ) : null}
      <module.Page
        title={title}
        payload={payload}
        view={props.view}
        select={props.select}
        links={props.links}
        ask={props.ask}
        fileName={props.fileName}
        run={props.run}
        hosts={props.hosts}
        warn={props.warn}
      />
    </div>
  );
}

function Others({ others, openTool }: PageViewProps) {
  if (others.length === 0) return <p class="muted">No other page has data for this run either.</p>;
  return (
    <p>
      This run has data for{" "}
      {others.map((other, index) => (
        <span key={other.name}>
          {index > 0 ? ", " : ""}
          <LinkButton onClick={() => openTool(other.name)}>{other.title}</LinkButton>
        </span>
      ))}
      .
    </p>
  );
}
