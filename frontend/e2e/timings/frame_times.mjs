/**
 * How long frames take while a session is replayed in the trace viewer:
 *
 *     node e2e/timings/frame_times.mjs URL [canvas | webgl]
 *
 * prints JSON: {"renderer", "free": {"frames", "ms": {p50, p95, most}, "script_ms": {…}}, "display":
 * {"frames", "late_ratio"}, "heap_bytes", "peak_heap_bytes"}. The browser draws in software.
 *
 * The session is replayed twice, one input a frame, and frames count that paint the timeline. "free"
 * waits for no display: a frame lasts until the next one begins, and `script_ms` is the page's own
 * part of it. "display" keeps the pace of a display of 60 Hz; `late_ratio` is the part of the frames
 * that missed it. Heaps are JavaScript's with its array buffers, the first after garbage collection.
 */
import { FREE, launch, newPage, spread } from "./browser.mjs";
import { SESSION } from "./trace_session.mjs";

const TIMELINE = "#trace-timeline";
const WAIT_MS = 300_000;
/** Between the parts of the session: what is shown is then there. */
const REST_MS = 400;
/** Longer than a frame of a display, less than two. */
const LATE_MS = 20;

const [, , url, renderer = ""] = process.argv;

const free = await measure(FREE);
const display = await measure([]);
const late = display.frames.filter(([frame]) => frame > LATE_MS);
console.log(
  JSON.stringify({
    renderer: free.renderer,
    free: {
      frames: free.frames.length,
      ms: spread(free.frames.map(([frame]) => frame)),
      script_ms: spread(free.frames.map(([, script]) => script)),
    },
    display: { frames: display.frames.length, late_ratio: late.length / display.frames.length },
    heap_bytes: display.heap,
    peak_heap_bytes: Math.max(free.peak, display.peak),
  }),
);

/** Replays the session in a browser of its own. */
async function measure(options) {
  const browser = await launch(options);
  try {
    const page = await newPage(browser);
    await page.goto(renderer === "" ? url : `${url}&renderer=${renderer}`);
    await page.locator(TIMELINE).waitFor({ timeout: WAIT_MS });
    const isShown = () =>
      /[1-9][\d,]* drawn/.test(document.querySelector(".trace-status")?.textContent ?? "");
    await page.waitForFunction(isShown, undefined, { timeout: WAIT_MS });
    const devtools = await page.context().newCDPSession(page);
    const heap = async () => {
      const { usedSize, backingStorageSize = 0 } = await devtools.send("Runtime.getHeapUsage");
      return usedSize + backingStorageSize;
    };
    await page.evaluate(prepare, TIMELINE);
    const frames = [];
    let peak = 0;
    for (const part of SESSION) {
      await page.waitForTimeout(REST_MS);
      frames.push(...(await page.evaluate((one) => window.replay(one), part)));
      peak = Math.max(peak, await heap());
    }
    await devtools.send("HeapProfiler.collectGarbage");
    const canvas = page.locator(`${TIMELINE} canvas`).first();
    return {
      frames,
      peak,
      heap: await heap(),
      renderer: await canvas.getAttribute("data-renderer"),
    };
  } finally {
    await browser.close();
  }
}

/** Runs in the page: `replay(part)` plays a part of the session and returns [frame, script] ms. */
function prepare(selector) {
  const element = document.querySelector(selector);
  const canvas = element.querySelector("canvas");
  // Pointers that are made up cannot be captured.
  Element.prototype.setPointerCapture = () => {};
  Element.prototype.releasePointerCapture = () => {};
  let isPainted = false;
  watch(CanvasRenderingContext2D.prototype, "putImageData");
  watch(WebGL2RenderingContext.prototype, "clear");
  element.focus();

  window.replay = async (part) => {
    const frames = [];
    const start = performance.now();
    let at = 0;
    let begin = await nextFrame();
    // A held key moves by the time that passes, whatever the number of frames.
    const isOn = () =>
      part.kind === "key" ? performance.now() - start < part.frames * 16.7 : at < part.frames;
    while (isOn() || at === 0) {
      isPainted = false;
      const before = performance.now();
      input(part, at++);
      const handled = performance.now() - before;
      // The page has asked for its frame already: ours comes after it, in the same one.
      const drawnFrom = await nextFrame();
      const script = performance.now() - drawnFrom + handled;
      if (isPainted && at > 1) frames.push([drawnFrom - begin, script]);
      begin = drawnFrom;
    }
    finish(part);
    return frames;
  };

  function watch(prototype, method) {
    const original = prototype[method];
    prototype[method] = function (...given) {
      isPainted ||= this.canvas === canvas;
      return original.apply(this, given);
    };
  }

  /** When the browser began the next frame. */
  function nextFrame() {
    return new Promise((done) => requestAnimationFrame(done));
  }

  function input(part, at) {
    const place = () => between(part.from, part.to, at / (part.frames - 1));
    if (part.kind === "wheel") turn(part);
    else if (part.kind === "key") at === 0 && press("keydown", part.key);
    else if (part.kind === "move") point("pointermove", place(), 0);
    else point(at === 0 ? "pointerdown" : "pointermove", place(), 1);
  }

  function finish(part) {
    if (part.kind === "key") press("keyup", part.key);
    if (part.kind === "drag") point("pointerup", part.to, 0);
  }

  function press(type, key) {
    element.dispatchEvent(new KeyboardEvent(type, { key, ...options() }));
  }

  function point(type, place, buttons) {
    const button = type === "pointermove" ? -1 : 0;
    const pointer = { pointerId: 1, pointerType: "mouse", isPrimary: true, button, buttons };
    element.dispatchEvent(new PointerEvent(type, { ...pointer, ...placeAt(place), ...options() }));
  }

  function turn({ turn: deltaY, isZoom, at }) {
    const wheel = { deltaY, ctrlKey: isZoom, ...placeAt(at), ...options() };
    element.dispatchEvent(new WheelEvent("wheel", wheel));
  }

  function options() {
    return { bubbles: true, cancelable: true };
  }

  function placeAt([x, y]) {
    const { left, top, width, height } = element.getBoundingClientRect();
    return { clientX: left + x * width, clientY: top + y * height };
  }

  function between(from, to, part) {
    return from.map((value, at) => value + (to[at] - value) * part);
  }
}
