/** What the outlines and the ground of iterators say. */

export function Legend() {
  return (
    <ul class="color-key" aria-label="Legend">
      <li>
        <span class="tf-swatch bottleneck" aria-hidden="true" />
        Bottleneck: holds up the execution longest
      </li>
      <li>
        <span class="tf-swatch critical" aria-hidden="true" />
        Critical path
      </li>
      <li>
        <span class="tf-swatch other" aria-hidden="true" />
        Not on the critical path
      </li>
      <li>
        <span class="tf-swatch heat" aria-hidden="true" />
        How long it holds up the execution
      </li>
      <li class="muted">sources at the left → what the program calls at the right</li>
    </ul>
  );
}
