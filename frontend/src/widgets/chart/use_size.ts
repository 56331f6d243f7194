import { useLayoutEffect, useState } from "preact/hooks";

interface Observed {
  readonly current: HTMLElement | null;
}

/** CSS pixels inside of an element, followed; 0 before it is there. */
export function useWidth(element: Observed): number {
  return useSize(element, "clientWidth");
}

/** As `useWidth`. */
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
