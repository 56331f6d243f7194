/** The heat map as a picture file. */
import { drawPicture } from "../../../widgets/chart/picture";
import { drawHeat, type HeatDrawing, heatSize } from "./draw_heat_map";
import { rampColor } from "./ramp";

const LEAST_WIDTH = 448;
const RAMP = { left: 80, top: -26, width: 160, height: 10, stops: 32 } as const;

/** `ends` are the labels of the ramp's ends. */
export function drawHeatSvg(
  drawing: HeatDrawing,
  title: string,
  ends: readonly [low: string, high: string],
): string {
  const { width, height } = heatSize(drawing);
  return drawPicture({
    title,
    note: ends[0],
    width: Math.max(width, LEAST_WIDTH),
    height,
    draw: (pen) => {
      drawHeat(pen, drawing);
      for (let stop = 0; stop < RAMP.stops; stop++) {
        pen.fillStyle = rampColor(drawing.ramp, stop / (RAMP.stops - 1));
        const each = RAMP.width / RAMP.stops;
        pen.fillRect(RAMP.left + stop * each, RAMP.top, each + 0.5, RAMP.height);
      }
      pen.fillStyle = drawing.colors.text;
      pen.textAlign = "left";
      pen.fillText(ends[1], RAMP.left + RAMP.width + 10, RAMP.top + RAMP.height / 2);
    },
  });
}
