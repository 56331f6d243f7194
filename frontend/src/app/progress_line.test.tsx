import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, expect, test, vi } from "vitest";
import { Skeleton } from "../widgets/text/message";
import { ProgressLine } from "./progress_line";
import { useProgress } from "./state/use_progress";

afterEach(() => {
  act(() => render(null, document.body));
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function Loading({ isActive }: { isActive: boolean }) {
  const progress = useProgress("r", "pod_viewer", isActive);
  return (
    <>
      <ProgressLine isActive={isActive} share={progress?.share ?? 0} />
      <Skeleton title="Pod viewer" text={progress?.text ?? ""} />
    </>
  );
}

const pass = (ms: number) =>
  act(async () => {
    await vi.advanceTimersByTimeAsync(ms);
  });
const line = () => document.querySelector("[role=progressbar]");
const said = () => document.querySelector("[role=status]")?.textContent;

test("from 200 ms on a page says what is done for it, then how far it is, until it is there", async () => {
  vi.useFakeTimers();
  const share = [0, 0.4, 0.4, 0.4];
  const fetched = vi.fn(async (_address: string) => {
    const now = share.shift() ?? 1;
    const text = `Decoding ops: ${100 * now} % of 732 MiB`;
    return new Response(JSON.stringify({ state: "working", text, done: 0, total: 1, share: now }));
  });
  vi.stubGlobal("fetch", fetched);
  act(() => render(<Loading isActive />, document.body));
  expect(said()).toBe("Pod viewer: loading");
  expect(line()?.hasAttribute("aria-valuenow")).toBe(false);
  await pass(199);
  expect(fetched.mock.calls.length).toBe(0);
  await pass(1);
  expect(said()).toBe("Decoding ops: 0 % of 732 MiB");
  expect(line()?.hasAttribute("aria-valuenow")).toBe(false);
  await pass(300);
  expect(said()).toBe("Decoding ops: 40 % of 732 MiB");
  expect(line()?.getAttribute("aria-valuenow")).toBe("40");
  const parameters = new URL(fetched.mock.calls[0][0], "http://here/").searchParams;
  expect([parameters.get("run"), parameters.get("tag")]).toEqual(["r", "pod_viewer"]);
  act(() => render(<Loading isActive={false} />, document.body));
  const asked = fetched.mock.calls.length;
  await pass(2000);
  expect(fetched.mock.calls.length).toBe(asked);
  expect(line()).toBeNull();
});
