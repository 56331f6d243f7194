/** The color of a custom property in the current theme, as "rgb(r, g, b)". */
export function getComputedColor(within: HTMLElement, property: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(${property})`;
  (within.parentElement ?? document.body).append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
