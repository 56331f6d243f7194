/** What must hold of the looks of every page: nothing sticks out, is cut off or cannot be read. */
import axe from "axe-core";
import type { Frame, Page } from "playwright-core";
import { expect } from "vitest";
import { eventually, LARGE, settled } from "./browser";

/** How to open a page whose looks are checked: with the least room. */
export const FIRST_LOOK = { width: 1280, height: 720, dark: true } as const;
/** The looks in which it is checked. A theme changes nothing but colors, whatever the size. */
const LOOKS = [FIRST_LOOK, { ...LARGE, dark: false }] as const;

/** Rules that are about colors alone. */
const OF_COLORS = ["color-contrast", "link-in-text-block"];
/** Rules that a dark look may break, or its smaller window: see LOOKS. */
const OF_DARK = [...OF_COLORS, "scrollable-region-focusable"];
/** Rules that never find anything serious, and take a third of the time. */
const SLIGHT = ["region", "scope-attr-valid", "hidden-content"];

/**
 * Nothing is wrong with the looks of a page, of which `of` says which it is: small and dark, then
 * large and light, without loading it again, which takes longer than looking at it. A dark page is
 * the light one in other colors: of rules, those on colors are asked again.
 */
export async function expectGoodLooks(page: Page, of = ""): Promise<void> {
  for (const { width, height, dark } of LOOKS) {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme: dark ? "dark" : "light" });
    await settled(page);
    const look = `${of} ${width} × ${height}, dark: ${dark}`;
    await eventually(async () => expect(await faults(page), look).toEqual([]));
  }
}

/** The same in the size that a page has: the themes differ in their colors alone. */
export async function expectGoodThemes(page: Page): Promise<void> {
  await settled(page);
  await eventually(async () => expect(await faults(page)).toEqual([]));
  await page.emulateMedia({ colorScheme: "dark" });
  await eventually(async () => expect(await violations(page, OF_COLORS), "dark").toEqual([]));
  await page.emulateMedia({ colorScheme: "light" });
}

/** What is wrong with the looks of a page: sticks out, cannot be read, is cut off. */
async function faults(page: Page): Promise<string[]> {
  const isDark = await page.evaluate(() => matchMedia("(prefers-color-scheme: dark)").matches);
  return [
    ...((await overflowsSideways(page)) ? ["sticks out sideways"] : []),
    ...(await brokenTexts(page)),
    ...(await violations(page, isDark ? OF_DARK : undefined)),
  ];
}

/** The serious accessibility violations of a page, by some rules or all: "rule: how many elements". */
export async function violations(page: Page | Frame, rules?: readonly string[]): Promise<string[]> {
  // Injected through the debugger, which the page's policy does not bind.
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe.source);
  const found = await page.evaluate(
    async ([values, slight]) => {
      type Axe = {
        run: (options: object) => Promise<{
          violations: { id: string; impact: string; nodes: unknown[] }[];
        }>;
      };
      const options = {
        ...(values && { runOnly: { type: "rule", values } }),
        rules: Object.fromEntries(slight.map((rule) => [rule, { enabled: false }])),
        // Style sheets are fetched again for rules on orientation and sound alone.
        preload: false,
        // No more than is returned: half of the time went to lists of what holds.
        resultTypes: ["violations"],
        elementRef: false,
        selectors: false,
      };
      return (await (window as unknown as { axe: Axe }).axe.run(options)).violations;
    },
    [rules, SLIGHT] as const,
  );
  return found
    .filter((one) => one.impact === "serious" || one.impact === "critical")
    .map((one) => `${one.id}: ${one.nodes.length}`);
}

/** Whether anything sticks out of the window sideways. */
export function overflowsSideways(page: Page): Promise<boolean> {
  return page.evaluate(
    () => document.documentElement.scrollWidth > document.documentElement.clientWidth,
  );
}

/** Texts that are cut off without a title that tells them whole, and numbers that are none. */
export function brokenTexts(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found: string[] = [];
    const boxes = new Map<Element, { overflowX: string; overflowY: string; edge: DOMRect }>();
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    while (walker.nextNode()) {
      const text = walker.currentNode.textContent?.trim() ?? "";
      const parent = walker.currentNode.parentElement;
      if (text === "" || !parent || parent.closest(".unseen, script, style")) continue;
      if (/\b(NaN|undefined|Infinity)\b|\[object /.test(text)) found.push(`no number: ${text}`);
      range.selectNodeContents(walker.currentNode);
      const { left, right, top, bottom, width } = range.getBoundingClientRect();
      if (width === 0) continue;
      for (
        let box: Element | null = parent;
        box && box !== document.body;
        box = box.parentElement
      ) {
        const { overflowX, overflowY, edge } = boxOf(box);
        // What scrolls is within reach; beyond it nothing is cut that could not be scrolled to.
        if (/auto|scroll/.test(overflowX + overflowY)) break;
        const isCutWide =
          overflowX !== "visible" && (right > edge.right + 1 || left < edge.left - 1);
        const isCutHigh =
          overflowY !== "visible" && (bottom > edge.bottom + 2 || top < edge.top - 2);
        if (!isCutWide && !isCutHigh) continue;
        if (!parent.closest("[title]")) found.push(`cut off: ${text.slice(0, 80)}`);
        break;
      }
    }
    return found;

    /** Looked up once for all texts in it. */
    function boxOf(element: Element) {
      const known = boxes.get(element);
      if (known) return known;
      const { overflowX, overflowY } = getComputedStyle(element);
      const box = { overflowX, overflowY, edge: element.getBoundingClientRect() };
      boxes.set(element, box);
      return box;
    }
  });
}

/** Names that are cut in their middle with a blank between "…" and what follows. */
export function gapsInNames(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>(".name")].flatMap((name) => {
      const [head, tail] = [name.querySelector(".name-head"), name.querySelector("bdi")];
      if (!head || !tail) return [];
      const letter = tail.getBoundingClientRect().width / (tail.textContent ?? "").length;
      // A head that lies below is not seen.
      const isSeen = head.getBoundingClientRect().top < name.getBoundingClientRect().bottom - 1;
      const isCut = isSeen && head.scrollWidth > head.clientWidth;
      const blank = head.getBoundingClientRect().width % letter;
      return isCut && blank > 1 && blank < letter - 0.1 ? [`${blank} px: ${name.title}`] : [];
    }),
  );
}

/** Texts that lie over others, by a few pixels at least; what covers others on purpose may. */
export function overlappingTexts(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    const boxes: { text: string; parent: Element; rect: DOMRect }[] = [];
    const seen = new Map<Element, DOMRect>();
    while (walker.nextNode()) {
      const text = walker.currentNode.textContent?.trim() ?? "";
      const parent = walker.currentNode.parentElement;
      if (text === "" || !parent?.checkVisibility({ opacityProperty: true })) continue;
      if (parent.closest(".unseen, script, style")) continue;
      range.selectNodeContents(walker.currentNode);
      for (const rect of range.getClientRects()) {
        const clipped = common(rect, seenIn(parent));
        if (clipped.width > 3 && clipped.height > 4) boxes.push({ text, parent, rect: clipped });
      }
    }
    const found = new Set<string>();
    boxes.sort((a, b) => a.rect.top - b.rect.top);
    boxes.forEach((upper, index) => {
      for (const lower of boxes.slice(index + 1)) {
        if (lower.rect.top >= upper.rect.bottom - 4) break;
        const across =
          Math.min(upper.rect.right, lower.rect.right) - Math.max(upper.rect.left, lower.rect.left);
        if (across <= 3 || isCover(upper.parent, lower.parent)) continue;
        if (isCover(lower.parent, upper.parent) || upper.parent === lower.parent) continue;
        found.add(`"${upper.text.slice(0, 40)}" over "${lower.text.slice(0, 40)}"`);
      }
    });
    return [...found];

    function common(one: DOMRect, other: DOMRect): DOMRect {
      const [left, right] = [Math.max(one.left, other.left), Math.min(one.right, other.right)];
      const [top, bottom] = [Math.max(one.top, other.top), Math.min(one.bottom, other.bottom)];
      return new DOMRect(left, top, Math.max(right - left, 0), Math.max(bottom - top, 0));
    }

    /** Where what an element holds is seen, found once for all texts in it. */
    function seenIn(element: Element | null): DOMRect {
      if (element === null) return new DOMRect(-1e6, -1e6, 2e6, 2e6);
      const known = seen.get(element);
      if (known) return known;
      const { overflowX, overflowY } = getComputedStyle(element);
      const isOpen = overflowX === "visible" && overflowY === "visible";
      const around = seenIn(element.parentElement);
      const found = isOpen ? around : common(around, element.getBoundingClientRect());
      seen.set(element, found);
      return found;
    }

    /** Whether something opaque that is laid above the flow holds `element` and not `other`. */
    function isCover(element: Element, other: Element): boolean {
      for (let box: Element | null = element; box; box = box.parentElement) {
        if (box.contains(other)) return false;
        const { position, backgroundColor } = getComputedStyle(box);
        if (/sticky|fixed|absolute/.test(position) && !/, 0\)|transparent/.test(backgroundColor))
          return true;
      }
      return false;
    }
  });
}
