import { render } from "preact";
import { act } from "preact/test-utils";
import { expect, test } from "vitest";
import { steady } from "./steady";

test("a steady component is rendered again only when a property changes", () => {
  const rendered: string[] = [];
  const Name = steady(({ text, more }: { text: string; more?: number }) => {
    rendered.push(text);
    return (
      <b>
        {text}
        {more}
      </b>
    );
  });
  const place = document.createElement("div");
  const show = (text: string, more?: number) =>
    act(() => render(<Name text={text} {...(more === undefined ? {} : { more })} />, place));
  show("a");
  show("a");
  show("b");
  show("b", 1);
  show("b");
  expect(rendered).toEqual(["a", "b", "b", "b"]);
  expect(place.textContent).toBe("b");
});
