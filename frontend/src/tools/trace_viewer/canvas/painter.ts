/** The interface of painters, which draw a scene on a canvas. */
import type { Scene } from "../scene/scene";

export interface Painter {
  readonly kind: "webgl" | "canvas";
  readonly paint: (scene: Scene) => void;
  readonly dispose: () => void;
}
