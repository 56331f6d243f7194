import { render } from "preact";
import { expect, test } from "vitest";
import { Sentence } from "./sentence";

test.each([
  ["70.7 % of that, 1,024 ms, −3 µs.", ["70.7 %", "1,024 ms", "−3 µs"]],
  ["11.2 GiB free at 107 GB/s; 12 steps, 5 messages, 4 same", ["11.2 GiB", "107 GB/s"]],
  ["", []],
])("in %j numbers stay with their units", (text, measures) => {
  const body = document.createElement("p");
  render(<Sentence text={text} />, body);
  expect(body.textContent).toBe(text);
  expect([...body.querySelectorAll(".measure")].map((measure) => measure.textContent)).toEqual(
    measures,
  );
});
