/** The colour of a custom property under the theme in force, as "rgb(r, g, b)". */
export function getComputedColor(within: HTMLElement, property: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(${property})`;
  (within.parentElement ?? document.body).append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
