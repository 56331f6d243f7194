/** The timeline with its legend as a picture file. */
import { formatTick } from "../../../base/format";
import { resolveColor, svgElement, svgText } from "../../../widgets/chart/picture";
import { MILLISECONDS, memoryScale } from "../format";
import type { Memory } from "../payload";
import { FRAGMENTATION, MEMORY_PARTS, marksOf, type Plan, topOf, type Window, xOf } from "../plan";
import { visibleSteps, yOf } from "./draw_timeline";

const WIDTH = 1160;
const HEIGHT = 420;
const AREA = { left: 64, top: 84, right: 940, bottom: 372 };

export function drawMemorySvg(
  title: string,
  memory: Memory,
  window: Window,
  hidden: ReadonlySet<string>,
): string {
  const size = { width: WIDTH, height: HEIGHT };
  const textColor = resolveColor("var(--text)");
  const plan: Plan = { ...AREA, ...window, most: topOf(memory, hidden, window) };
  const scale = memoryScale(plan.most);
  const root = svgElement("svg", { ...size, viewBox: `0 0 ${WIDTH} ${HEIGHT}` });
  root.append(svgElement("rect", { ...size, fill: resolveColor("var(--background)") }));
  root.append(svgText(16, 28, title, textColor, { "font-weight": 600, "font-size": 15 }));
  root.append(svgText(16, 50, `Memory (${scale.unit}), fragmentation (%), time (ms)`, textColor));
  const up = marksOf(0, plan.most, scale.factor, 6);
  for (const value of up.values) {
    const y = yOf(plan, value);
    root.append(
      svgElement("line", { x1: plan.left, x2: plan.right, y1: y, y2: y, stroke: "#8884" }),
    );
    const text = formatTick(value, scale, up.increment);
    root.append(svgText(plan.left - 8, y + 4, text, textColor, { "text-anchor": "end" }));
  }
  const along = marksOf(plan.from, plan.to, MILLISECONDS.factor, 9);
  for (const value of along.values) {
    const text = formatTick(value, MILLISECONDS, along.increment);
    root.append(
      svgText(xOf(plan, value), plan.bottom + 18, text, textColor, { "text-anchor": "middle" }),
    );
  }
  root.append(...drawAreas(memory, plan, hidden));
  for (const { left, right, label } of visibleSteps({ memory, plan })) {
    const start = Math.max(left, plan.left);
    for (const x of [start, Math.min(right, plan.right)])
      root.append(
        svgElement("line", { x1: x, x2: x, y1: plan.top, y2: plan.bottom, stroke: "#8888" }),
      );
    if (right - start > label.length * 7)
      root.append(svgText(start + 3, plan.top - 6, label, textColor));
  }
  if (!hidden.has(FRAGMENTATION.id)) root.append(...drawFragmentation(memory, plan, textColor));
  const legend = [FRAGMENTATION, ...MEMORY_PARTS.toReversed()].filter(({ id }) => !hidden.has(id));
  legend.forEach(({ label, color }, at) => {
    const place = { x: plan.right + 64, y: plan.top + at * 22, width: 11, height: 11 };
    root.append(svgElement("rect", { ...place, fill: resolveColor(color) }));
    root.append(svgText(place.x + 18, place.y + 10, label, textColor));
  });
  return new XMLSerializer().serializeToString(root);
}

function drawAreas(memory: Memory, plan: Plan, hidden: ReadonlySet<string>): SVGElement[] {
  const { timeline } = memory;
  const base = new Float64Array(timeline.length);
  return MEMORY_PARTS.filter(({ id }) => !hidden.has(id)).map(({ id, color }) => {
    const low = base.slice();
    const values = timeline[id];
    for (let point = 0; point < base.length; point++) base[point] += values[point] || 0;
    const d = base.reduce((path, high, point) => {
      const [left, right] = edges(memory, plan, point);
      if (!(right > left) || !(high > low[point])) return path;
      return `${path}M${left} ${yOf(plan, low[point]).toFixed(2)}V${yOf(plan, high).toFixed(2)}H${right}V${yOf(plan, low[point]).toFixed(2)}z`;
    }, "");
    return svgElement("path", { d, fill: resolveColor(color) });
  });
}

function drawFragmentation(memory: Memory, plan: Plan, textColor: string): SVGElement[] {
  const { fragmentation } = memory.timeline;
  let d = "";
  let isDown = false;
  fragmentation.forEach((share, point) => {
    const [left, right] = edges(memory, plan, point);
    if (Number.isNaN(share) || !(right > left)) isDown = isDown && !Number.isNaN(share);
    else {
      const y = (plan.bottom - share * (plan.bottom - plan.top)).toFixed(2);
      d += `${isDown ? "L" : "M"}${left} ${y}H${right}`;
      isDown = true;
    }
  });
  const marks = [0, 50, 100].map((percent) =>
    svgText(
      plan.right + 8,
      plan.bottom - (percent / 100) * (plan.bottom - plan.top) + 4,
      String(percent),
      textColor,
    ),
  );
  return [
    svgElement("path", { d, fill: "none", stroke: textColor, "stroke-width": 1.5 }),
    ...marks,
  ];
}

/** What a point stands for, within the window. */
function edges({ timeline }: Memory, plan: Plan, point: number): [left: number, right: number] {
  const { time, length } = timeline;
  const within = (x: number) => Number(Math.max(plan.left, Math.min(x, plan.right)).toFixed(2));
  const next = point + 1 < length ? xOf(plan, time[point + 1]) : plan.right;
  return [within(xOf(plan, time[point])), within(next)];
}
