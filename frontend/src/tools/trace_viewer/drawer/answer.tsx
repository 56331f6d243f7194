/** Server responses that follow the view and the selected range. */
import { type Signal, useSignal, useSignalEffect } from "@preact/signals";
import { describeProblem } from "../../../api/errors";
import type { Page } from "../page/page";
import { isStale } from "../protocol/api";

export interface LatestAnswer<T> {
  /** The latest response, kept while the next one is loading; null before the first. */
  readonly value: Signal<T | null>;
  readonly error: Signal<unknown>;
  readonly isLoading: Signal<boolean>;
}

const SETTLE_MS = 150;

/** Requests again when a signal that `question` reads changes, and aborts the previous request.
 *
 * `question` returns the request to send; null if there is none.
 */
export function useAnswer<T>(
  page: Page,
  question: () => ((signal: AbortSignal) => Promise<T>) | null,
): LatestAnswer<T> {
  const value = useSignal<T | null>(null);
  const error = useSignal<unknown>(null);
  const isLoading = useSignal(false);
  useSignalEffect(() => {
    const ask = question();
    if (ask === null) {
      value.value = null;
      error.value = null;
      isLoading.value = false;
      return;
    }
    const abort = new AbortController();
    isLoading.value = true;
    const timer = setTimeout(
      () =>
        ask(abort.signal).then(
          (answer) => {
            if (abort.signal.aborted) return;
            value.value = answer;
            error.value = null;
            isLoading.value = false;
          },
          (caught: unknown) => {
            if (abort.signal.aborted) return;
            if (isStale(caught)) page.model.stale.value++;
            error.value = caught;
            isLoading.value = false;
          },
        ),
      SETTLE_MS,
    );
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  });
  return { value, error, isLoading };
}

/** The error in place of a response. */
export function NoAnswer({ error }: { error: unknown }) {
  const { message, hint } = describeProblem(error);
  return (
    <p class="trace-note trace-error" role="alert">
      {message} {hint}
    </p>
  );
}
