import { render } from "preact";
import { act } from "preact/test-utils";
import { beforeEach, expect, test, vi } from "vitest";
import { copyText } from "../../base/save";
import { CopyButton } from "./copy_button";

vi.mock("../../base/save", () => ({ copyText: vi.fn() }));

beforeEach(() => {
  act(() => render(null, document.body));
});

function show(title?: string) {
  act(() => render(<CopyButton text={() => "a"} label="Copy name" title={title} />, document.body));
  const [button] = document.body.getElementsByTagName("button");
  return button;
}

test("it has a name, with and without a title", () => {
  expect(show().getAttribute("aria-label")).toBe("Copy name");
  expect(show("Copy the name of the op").getAttribute("aria-label")).toBe(
    "Copy the name of the op",
  );
});

test.each([
  [true, "Copied"],
  [false, "Copy failed"],
])("whether the text was copied (%s) is seen and read out", async (isCopied, says) => {
  vi.mocked(copyText).mockResolvedValue(isCopied);
  const button = show();
  await act(async () => button.click());
  expect(button.textContent).toBe(says);
  expect(document.querySelector("[role=status]")?.textContent).toBe(says);
});
