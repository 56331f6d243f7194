/** Paints a scene with WebGL: one quad, drawn once per rectangle, in one call. */
import { EDGE, HATCHED, type Scene } from "../scene/scene";
import { EDGE_FROM, HATCH_PERIOD, HATCH_STROKE } from "./canvas2d";
import type { Painter } from "./painter";

const VERTEX = `#version 300 es
in vec4 rect;
in vec4 color;
in uint flags;
uniform vec2 size;
out vec4 fill;
flat out uint kind;
flat out float edge;
void main() {
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);
  vec2 at = (rect.xy + corner * rect.zw) / size * 2.0 - 1.0;
  gl_Position = vec4(at.x, -at.y, 0.0, 1.0);
  fill = color;
  kind = flags;
  edge = rect.z >= ${EDGE_FROM}.0 && (flags & ${EDGE}u) != 0u ? rect.x : -10.0;
}`;

const FRAGMENT = `#version 300 es
precision highp float;
in vec4 fill;
flat in uint kind;
flat in float edge;
uniform vec2 size;
uniform vec3 background;
out vec4 pixel;
void main() {
  pixel = fill;
  vec2 at = vec2(floor(gl_FragCoord.x), floor(size.y - gl_FragCoord.y));
  if (at.x == edge) pixel.rgb -= floor(fill.rgb * 255.0 / 4.0 + 0.001) / 255.0;
  if ((kind & ${HATCHED}u) != 0u && mod(at.x + at.y, ${HATCH_PERIOD}.0) < ${HATCH_STROKE}.0)
    pixel.rgb = mix(pixel.rgb, background, 128.0 / 255.0);
}`;

interface AttributeLayout {
  readonly attribute: "rect" | "color" | "flags";
  readonly bytes: number;
}

const LAYOUT: readonly AttributeLayout[] = [
  { attribute: "rect", bytes: 8 },
  { attribute: "color", bytes: 4 },
  { attribute: "flags", bytes: 1 },
];

export class WebglPainter implements Painter {
  readonly kind = "webgl";
  private program: WebGLProgram | null = null;
  private buffers: WebGLBuffer[] = [];
  private room = 0;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly gl: WebGL2RenderingContext,
    private readonly repaint: () => void,
  ) {
    canvas.addEventListener("webglcontextlost", this.onLost);
    canvas.addEventListener("webglcontextrestored", this.onRestored);
    this.prepare();
  }

  readonly paint = (scene: Scene): void => {
    const { gl, program, canvas } = this;
    if (!program || scene.width <= 0 || scene.height <= 0) return;
    if (canvas.width !== scene.width || canvas.height !== scene.height) {
      canvas.width = scene.width;
      canvas.height = scene.height;
    }
    gl.viewport(0, 0, scene.width, scene.height);
    const [red, green, blue] = channels(scene.background);
    gl.clearColor(red, green, blue, 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
    this.upload(scene);
    gl.useProgram(program);
    gl.uniform2f(gl.getUniformLocation(program, "size"), scene.width, scene.height);
    gl.uniform3f(gl.getUniformLocation(program, "background"), red, green, blue);
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, scene.count);
  };

  readonly dispose = (): void => {
    const { gl, canvas } = this;
    canvas.removeEventListener("webglcontextlost", this.onLost);
    canvas.removeEventListener("webglcontextrestored", this.onRestored);
    for (const buffer of this.buffers) gl.deleteBuffer(buffer);
    gl.deleteProgram(this.program);
    this.program = null;
  };

  private readonly onLost = (event: Event): void => {
    // Without this, the browser does not restore the context.
    event.preventDefault();
    this.program = null;
  };

  private readonly onRestored = (): void => {
    this.room = 0;
    this.prepare();
    this.repaint();
  };

  private prepare(): void {
    const { gl } = this;
    this.program = link(gl);
    this.buffers = LAYOUT.map(() => gl.createBuffer());
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    LAYOUT.forEach(({ attribute }, index) => {
      gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[index]);
      gl.enableVertexAttribArray(index);
      if (attribute === "rect") gl.vertexAttribPointer(index, 4, gl.SHORT, false, 0, 0);
      else if (attribute === "color")
        gl.vertexAttribPointer(index, 4, gl.UNSIGNED_BYTE, true, 0, 0);
      else gl.vertexAttribIPointer(index, 1, gl.UNSIGNED_BYTE, 0, 0);
      gl.vertexAttribDivisor(index, 1);
    });
  }

  private upload(scene: Scene): void {
    const { gl } = this;
    const isLarger = scene.colors.length > this.room;
    this.room = Math.max(this.room, scene.colors.length);
    const columns = [scene.rects, scene.colors, scene.flags];
    LAYOUT.forEach(({ bytes }, index) => {
      gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[index]);
      if (isLarger) gl.bufferData(gl.ARRAY_BUFFER, this.room * bytes, gl.DYNAMIC_DRAW);
      const each = bytes / columns[index].BYTES_PER_ELEMENT;
      gl.bufferSubData(gl.ARRAY_BUFFER, 0, columns[index], 0, scene.count * each);
    });
  }
}

function link(gl: WebGL2RenderingContext): WebGLProgram | null {
  const program = gl.createProgram();
  for (const [type, source] of [
    [gl.VERTEX_SHADER, VERTEX],
    [gl.FRAGMENT_SHADER, FRAGMENT],
  ] as const) {
    const shader = gl.createShader(type);
    if (!shader) return null;
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  LAYOUT.forEach(({ attribute }, index) => {
    gl.bindAttribLocation(program, index, attribute);
  });
  gl.linkProgram(program);
  return gl.getProgramParameter(program, gl.LINK_STATUS) ? program : null;
}

function channels(color: number): [red: number, green: number, blue: number] {
  return [(color & 255) / 255, ((color >>> 8) & 255) / 255, ((color >>> 16) & 255) / 255];
}
