import { useLayoutEffect, useState } from "preact/hooks";

interface Observed {
  readonly current: HTMLElement | null;
}

/** The inner width of an element in CSS pixels, kept up to date; 0 before it is mounted. */
export function useWidth(element: Observed): number {
  return useSize(element, "clientWidth");
}

/** The same for the height. */
export function useHeight(element: Observed): number {
  return useSize(element, "clientHeight");
}

function useSize(element: Observed, side: "clientWidth" | "clientHeight"): number {
  const [size, setSize] = useState(0);
  useLayoutEffect(() => {
    const observed = element.current;
    if (!observed) return;
    const measure = () => setSize(observed[side]);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(observed);
    return () => observer.disconnect();
  }, []);
  return size;
}
