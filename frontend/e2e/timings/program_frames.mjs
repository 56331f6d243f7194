/**
 * How long frames of the pages of programs take:
 *
 *     node e2e/timings/program_frames.mjs BASE RUN [PART …]
 *
 * prints a line of JSON for each part, such as scrolling a table: {"part", "rows", "frames", "ms":
 * {p50, p95, most}, "script_ms", "task_ms"}. One input a frame, and no display is waited for: a
 * frame lasts until the next one begins. `script_ms` and `task_ms` are means of processor time: of
 * the page's scripts, and of all that its main thread does, styles, layout and painting among it.
 * The browser draws in software.
 */
import { FREE, launch, newPage, spread } from "./browser.mjs";

const WAIT_MS = 300_000;
const FRAMES = 120;
const REST_MS = 1000;
const MOST_PROGRAMS = 20;

/** What is done on which element of which page, which shows `rows` of what a part is about. */
const PARTS = [
  { part: "op_profile: scroll the tree", tool: "op_profile", on: ".trace-rows", input: "scroll" },
  { part: "op_profile: point at the icicle", tool: "op_profile", on: ".icicle", input: "point" },
  { part: "hlo_stats: scroll the table", tool: "hlo_stats", on: ".grid", input: "scroll" },
  {
    part: "roofline_model: point at instructions",
    tool: "roofline_model",
    on: ".scatter-host",
    input: "point",
  },
  {
    part: "roofline_model: scroll the table",
    tool: "roofline_model",
    on: ".grid",
    input: "scroll",
  },
  {
    part: "memory_viewer: scroll the table",
    tool: "memory_viewer",
    on: ".grid",
    input: "scroll",
  },
  { part: "graph_viewer: pan the graph", tool: "graph_viewer", on: ".graph-frame", input: "drag" },
  {
    part: "graph_viewer: zoom the graph",
    tool: "graph_viewer",
    on: ".graph-frame",
    input: "wheel",
  },
  {
    part: "graph_viewer: scroll the text",
    tool: "graph_viewer",
    params: { tab: "text" },
    on: ".graph-lines",
    input: "scroll",
  },
];

const [, , base, run, ...wanted] = process.argv;
const browser = await launch(FREE);
try {
  const graph = await largestGraph();
  for (const part of PARTS)
    if (wanted.every((word) => part.part.includes(word)))
      console.log(JSON.stringify(await measure(part, graph)));
} finally {
  await browser.close();
}

/** The whole computation of the run that gives the largest graph, as parameters of the page. */
async function largestGraph() {
  const ask = async (params) => {
    const query = new URLSearchParams({ run, tag: "graph_viewer", layout: "columns", ...params });
    return (await fetch(`${base}/data?${query}`)).json();
  };
  let found = { nodes: 0, params: {} };
  for (const { program_id } of (await ask({})).programs.slice(0, MOST_PROGRAMS)) {
    const { clusters } = await ask({ program_id });
    const params = { program_id, node_name: clusters[0].computation };
    const nodes = (await ask(params)).nodes.length;
    if (nodes > found.nodes) found = { nodes, params };
  }
  return found.params;
}

async function measure({ part, tool, params = {}, on, input }, graph) {
  const page = await newPage(browser);
  const shown = on === ".graph-frame" ? graph : params;
  await page.goto(`${base}/index.html#${new URLSearchParams({ run, tool, ...shown })}`);
  await page.locator(on).first().waitFor({ timeout: WAIT_MS });
  await page.waitForTimeout(REST_MS);
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Performance.enable", { timeDomain: "threadTicks" });
  await page.evaluate(play, [on, input, 10]);
  const before = await timesOf(devtools);
  const frames = await page.evaluate(play, [on, input, FRAMES]);
  const after = await timesOf(devtools);
  const rows = await page.evaluate((selector) => {
    const element = document.querySelector(selector);
    const counted = element?.closest("[aria-rowcount]") ?? element;
    return (
      Number(counted?.getAttribute("aria-rowcount")) ||
      document.querySelectorAll(".graph-node").length
    );
  }, on);
  await page.close();
  const mean = (name) => Number((((after[name] - before[name]) * 1000) / FRAMES).toFixed(2));
  return {
    part,
    rows,
    frames: frames.length,
    ms: spread(frames),
    script_ms: mean("ScriptDuration"),
    task_ms: mean("TaskDuration"),
  };
}

async function timesOf(devtools) {
  const { metrics } = await devtools.send("Performance.getMetrics");
  return Object.fromEntries(metrics.map(({ name, value }) => [name, value]));
}

/** Runs in the page: one input a frame; how long each frame took. */
async function play([selector, input, count]) {
  // Pointers that are made up cannot be captured.
  Element.prototype.setPointerCapture = () => {};
  Element.prototype.releasePointerCapture = () => {};
  const element = document.querySelector(selector);
  const box = element.getBoundingClientRect();
  const target = element.querySelector("canvas, svg, .uplot .u-over, .u-over") ?? element;
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const fire = (type, part, buttons = 0) => {
    const at = {
      clientX: box.left + box.width * (0.1 + 0.8 * part),
      clientY:
        box.top + Math.min(box.height, innerHeight - box.top) * (0.1 + 0.6 * ((part * 7) % 1)),
    };
    const options = {
      ...at,
      bubbles: true,
      cancelable: true,
      buttons,
      pointerId: 1,
      isPrimary: true,
    };
    const on = input === "point" ? target : element;
    if (type === "wheel")
      on.dispatchEvent(
        new WheelEvent("wheel", { ...options, ctrlKey: true, deltaY: part < 0.5 ? -40 : 40 }),
      );
    else {
      on.dispatchEvent(new PointerEvent(type, options));
      if (type === "pointermove") on.dispatchEvent(new MouseEvent("mousemove", options));
    }
  };
  const times = [];
  let begin = await frame();
  if (input === "drag") fire("pointerdown", 0, 1);
  for (let at = 0; at < count; at++) {
    if (input === "scroll") element.scrollTop += 60;
    else if (input === "wheel") fire("wheel", at / count);
    else fire("pointermove", at / count, input === "drag" ? 1 : 0);
    const next = await frame();
    times.push(next - begin);
    begin = next;
  }
  if (input === "drag") fire("pointerup", 1);
  return times;
}
