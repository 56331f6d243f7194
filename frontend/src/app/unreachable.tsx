/** A banner above a page that stays visible while the server is unreachable. */
import { describeProblem } from "../api/errors";
import { SmallButton } from "../widgets/controls/buttons";

export function Unreachable({ error, retry }: { error: unknown; retry: () => void }) {
  const { message, hint } = describeProblem(error);
  return (
    <section class="banner" role="alert">
      <div class="banner-line">
        <span aria-hidden="true">⚠</span>
        <span class="banner-text">
          {message} This page shows data loaded earlier. {hint}
        </span>
        <SmallButton onClick={retry}>Try again</SmallButton>
      </div>
    </section>
  );
}
