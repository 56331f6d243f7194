/** The legend of the outlines and backgrounds of iterators. */

export function Legend() {
  return (
    <ul class="plain color-key" aria-label="Legend">
      <li>
        <span class="tf-swatch bottleneck" aria-hidden="true" />
        Bottleneck: holds up the execution the longest
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
        Time that it holds up the execution
      </li>
      <li class="muted">sources on the left → iterator called by the program on the right</li>
    </ul>
  );
}
