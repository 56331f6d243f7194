/** Ring segments as SVG paths centered at the origin. */

const GAP = 0.012;

/** One path per share, clockwise from the top. */
export function ringPaths(shares: readonly number[], outer: number, inner: number): string[] {
  let before = 0;
  return shares.map((share) => {
    const start = before * 2 * Math.PI;
    before += share;
    const end = before * 2 * Math.PI;
    if (share >= 0.9995) return fullRing(outer, inner);
    const gap = Math.min(GAP, (end - start) / 4);
    return arc(start + gap, end - gap, outer, inner);
  });
}

function arc(start: number, end: number, outer: number, inner: number): string {
  const isLarge = end - start > Math.PI ? 1 : 0;
  return (
    `M${point(start, outer)}A${outer} ${outer} 0 ${isLarge} 1 ${point(end, outer)}` +
    `L${point(end, inner)}A${inner} ${inner} 0 ${isLarge} 0 ${point(start, inner)}Z`
  );
}

function fullRing(outer: number, inner: number): string {
  const circle = (radius: number, sweep: number) =>
    `M0 ${-radius}A${radius} ${radius} 0 1 ${sweep} 0 ${radius}A${radius} ${radius} 0 1 ${sweep} 0 ${-radius}Z`;
  return circle(outer, 1) + circle(inner, 0);
}

function point(angle: number, radius: number): string {
  return `${(radius * Math.sin(angle)).toFixed(3)} ${(-radius * Math.cos(angle)).toFixed(3)}`;
}
