/** A scatter plot with its legend as a picture file. */
import { drawPicture } from "../chart/picture";
import { drawScatter, type ScatterPicture, scatterColors } from "./draw_scatter";

const SIZE = { width: 760, height: 440 } as const;

export function drawSvg(title: string, picture: Omit<ScatterPicture, "width" | "height">): string {
  const { kinds, y } = picture;
  return drawPicture({
    title,
    note: `${y.title}; area: time`,
    ...SIZE,
    legend: kinds,
    draw: (pen) => drawScatter(pen, { ...picture, ...SIZE }, scatterColors(kinds)),
  });
}
