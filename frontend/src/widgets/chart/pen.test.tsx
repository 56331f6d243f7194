/** The pen of picture files draws as a canvas does. */
import { expect, test } from "vitest";
import { hatch } from "./pen";
import { drawPicture } from "./picture";
import { svgElement, svgPen } from "./svg_pen";

function drawn(draw: (pen: ReturnType<typeof svgPen>) => void): SVGElement {
  const group = svgElement("g", {});
  draw(svgPen(group));
  return group;
}

const attributes = (element: Element) =>
  Object.fromEntries([...element.attributes].map(({ name, value }) => [name, value]));

test("rectangles and paths have the colors of the moment", () => {
  const group = drawn((pen) => {
    pen.fillStyle = "red";
    pen.fillRect(1, 2, 3, 4);
    pen.strokeStyle = "blue";
    pen.lineWidth = 2;
    pen.globalAlpha = 0.5;
    pen.setLineDash([2, 3]);
    pen.beginPath();
    pen.lineTo(0, 0);
    pen.lineTo(10.125, 5);
    pen.stroke();
  });
  expect([...group.children].map(attributes)).toEqual([
    { x: "1", y: "2", width: "3", height: "4", fill: "red" },
    {
      d: "M0 0L10.13 5",
      fill: "none",
      stroke: "blue",
      "stroke-width": "2",
      "stroke-dasharray": "2 3",
      opacity: "0.5",
    },
  ]);
});

test("what is clipped and set is so until it is restored", () => {
  const group = drawn((pen) => {
    pen.fillStyle = "red";
    pen.save();
    pen.beginPath();
    pen.rect(0, 0, 5, 5);
    pen.clip();
    pen.fillStyle = "blue";
    pen.fillRect(0, 0, 9, 9);
    pen.restore();
    pen.fillRect(0, 0, 1, 1);
  });
  const [shape, clipped, plain] = group.children;
  expect(clipped.getAttribute("clip-path")).toBe(`url(#${shape.id})`);
  expect(clipped.firstElementChild?.getAttribute("fill")).toBe("blue");
  expect(plain.getAttribute("fill")).toBe("red");
});

test("stripes of neighbors meet", () => {
  const path = (left: number) =>
    drawn((pen) => hatch(pen, "red", { left, top: 0, width: 4, height: 6 })).querySelector(
      "g[clip-path] path",
    );
  const sums = (left: number) =>
    [...(path(left)?.getAttribute("d") ?? "").matchAll(/M(-?\d+) (-?\d+)/g)].map(
      ([, x, y]) => (Number(x) + Number(y)) % 6,
    );
  expect(new Set([...sums(0), ...sums(4)].map(Math.abs))).toEqual(new Set([0]));
});

test("names are text in a picture, with its legend beside it", () => {
  const svg = drawPicture({
    title: "<script>",
    width: 100,
    height: 50,
    legend: [{ label: "Input & more", color: "red" }],
    draw: (pen) => pen.fillText("a\u0000b", 0, 0),
  });
  expect(svg).toContain("&lt;script&gt;");
  expect(svg).toContain("Input &amp; more");
  expect(svg).toContain("a b");
  expect(svg).toContain('width="352"');
});
