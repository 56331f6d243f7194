import { expect, test } from "vitest";
import { stackFrames } from "./source_stack";

test("the frames of a stack are the title of the markup, as text", () => {
  const markup =
    "<div class='source-info-cell' title='f a.py:1\n&lt;img src=x onerror=alert(1)&gt; b.py:2'>a.py:1</div>";
  expect(stackFrames(markup)).toEqual(["f a.py:1", "<img src=x onerror=alert(1)> b.py:2"]);
  expect(document.querySelector("img")).toBeNull();
  expect(stackFrames("")).toEqual([]);
  expect(stackFrames("a.py:1")).toEqual([]);
});
