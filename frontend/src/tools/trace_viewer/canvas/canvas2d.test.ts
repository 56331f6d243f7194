import { expect, test } from "vitest";
import { EDGE, HATCHED, Scene } from "../scene/scene";
import { paintWords } from "./canvas2d";

/** Pixels as the scene says, one by one. */
function slowPaint(scene: Scene): Uint32Array {
  const words = new Uint32Array(scene.width * scene.height).fill(scene.background);
  for (let rect = 0; rect < scene.count; rect++) {
    const [left, top, width, height] = scene.rects.subarray(rect * 4, rect * 4 + 4);
    const [color, flags] = [scene.colors[rect], scene.flags[rect]];
    for (let y = top; y < top + height; y++) {
      for (let x = left; x < left + width; x++) {
        if (x < 0 || y < 0 || x >= scene.width || y >= scene.height) continue;
        const at = y * scene.width + x;
        const isEdge = (flags & EDGE) !== 0 && width >= 3 && x === left;
        const isStroke = (flags & HATCHED) !== 0 && (x + y) % 6 < 2;
        const parts = [0, 8, 16].map((shift) => {
          const fill = (color >>> shift) & 255;
          const own = isEdge ? fill - (fill >> 2) : fill;
          const alpha = (color >>> 24) / 255;
          const mixed = Math.round(own * alpha + ((words[at] >>> shift) & 255) * (1 - alpha));
          if (!isStroke) return mixed;
          return Math.round((((scene.background >>> shift) & 255) * 128 + mixed * 127) / 255);
        });
        words[at] = (0xff000000 | (parts[2] << 16) | (parts[1] << 8) | parts[0]) >>> 0;
      }
    }
  }
  return words;
}

test("copied lines make the same picture as pixels one by one", () => {
  const scene = new Scene();
  scene.reset(60, 50, 0xffffffff);
  scene.fill(0, 0, 60, 10, 0xfff0f0f0);
  scene.fill(20, 0, 1, 50, 0xffdddddd);
  const strip = (y: number, rects: readonly (readonly number[])[]) => {
    const first = scene.count;
    for (const [x, width, color, flags] of rects) scene.add(x, y, width, 9, color, flags, 0, 0);
    scene.endStrip(first, 0, 0, true);
  };
  strip(12, [
    [-5, 12, 0xff3366cc, EDGE],
    [7, 9, 0xff3366cc, EDGE],
    [16, 2, 0xff3366cc, EDGE],
    [20, 1, 0x803366cc, 0],
    [20, 1, 0x603366cc, 0],
    [40, 90, 0xff00aa33, EDGE],
  ]);
  strip(24, [[10, 30, 0xff00aa33, HATCHED | EDGE]]);
  strip(46, [[10, 30, 0xff00aa33, EDGE]]);
  const first = scene.count;
  scene.plain(30, 5, 3, 30, 0xff112233);
  scene.plain(33, 20, 3, 90, 0xff112233);
  scene.endStrip(first, 0, 0, false);
  const words = new Uint32Array(60 * 50);
  paintWords(words, scene);
  expect(words).toEqual(slowPaint(scene));
});

test("nothing is painted outside of the canvas", () => {
  const scene = new Scene();
  scene.reset(4, 3, 0xffffffff);
  scene.plain(-9, -9, 4, 4, 0xff000000);
  scene.plain(9, 9, 4, 4, 0xff000000);
  scene.endStrip(0, 0, 0, false);
  const words = new Uint32Array(12);
  paintWords(words, scene);
  expect(words.every((word) => word === 0xffffffff)).toBe(true);
});
