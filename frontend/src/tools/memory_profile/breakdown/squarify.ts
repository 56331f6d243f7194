/** Squarified treemap layout. Source: Bruls, Huizing, van Wijk (2000). */

export interface Tile {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/**
 * One rectangle per size, in order, that together fill `width` × `height`. Descending sizes give the
 * squarest rectangles. Sizes must be positive.
 */
export function squarify(sizes: readonly number[], width: number, height: number): Tile[] {
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const tiles: Tile[] = [];
  if (!(total > 0) || !(width > 0) || !(height > 0)) return tiles;
  const areas = sizes.map((size) => (size / total) * width * height);
  let room: Tile = { left: 0, top: 0, width, height };
  let from = 0;
  while (from < areas.length) {
    const side = Math.min(room.width, room.height);
    let to = from + 1;
    let sum = areas[from];
    // A row takes the next area as long as that makes its worst tile squarer.
    while (to < areas.length) {
      const before = worst(areas[from], areas[to - 1], sum, side);
      if (worst(areas[from], areas[to], sum + areas[to], side) > before) break;
      sum += areas[to++];
    }
    const isUpright = room.width >= room.height;
    const depth = Math.min(sum / side, isUpright ? room.width : room.height);
    let along = 0;
    for (const area of areas.slice(from, to)) {
      const length = (area / sum) * side;
      tiles.push(
        isUpright
          ? { left: room.left, top: room.top + along, width: depth, height: length }
          : { left: room.left + along, top: room.top, width: length, height: depth },
      );
      along += length;
    }
    room = isUpright
      ? { ...room, left: room.left + depth, width: Math.max(room.width - depth, 1e-9) }
      : { ...room, top: room.top + depth, height: Math.max(room.height - depth, 1e-9) };
    from = to;
  }
  return tiles;
}

/** The aspect ratio of a row's worst tile. */
function worst(largest: number, smallest: number, sum: number, side: number): number {
  const square = side * side;
  return Math.max((square * largest) / (sum * sum), (sum * sum) / (square * smallest));
}
