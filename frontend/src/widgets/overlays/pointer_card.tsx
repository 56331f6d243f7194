/** A card beside the pointer, kept inside the window. */
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import "./pointer_card.css";

interface PointerCardProps {
  /** Client coordinates of the pointer. */
  readonly x: number;
  readonly y: number;
  readonly children: ComponentChildren;
}

const BESIDE = 14;

export function PointerCard({ x, y, children }: PointerCardProps) {
  const card = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = card.current;
    if (!element) return;
    const { offsetWidth: width, offsetHeight: height } = element;
    const left = x + BESIDE + width > innerWidth ? x - BESIDE - width : x + BESIDE;
    const top = y + BESIDE + height > innerHeight ? y - BESIDE - height : y + BESIDE;
    element.style.transform = `translate(${Math.max(left, 4)}px, ${Math.max(top, 4)}px)`;
  });
  return (
    <div class="pointer-card" ref={card} aria-hidden="true">
      {children}
    </div>
  );
}
