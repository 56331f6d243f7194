import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, expect, test, vi } from "vitest";
import type { PlacedGraph } from "../shapes";
import { type LookState, useLook } from "./use_look";

const LAYOUT: PlacedGraph = { nodes: [], width: 100, height: 100 };
const element = { current: null };
const asked: string[] = [];
let state: LookState;

function Frame({ address }: { address: string | undefined }) {
  state = useLook(element, LAYOUT, 100, -1, address, ({ look }) => asked.push(look));
  return null;
}

const open = (address?: string) => act(() => render(<Frame address={address} />, document.body));
const pause = () =>
  act(() => {
    vi.advanceTimersByTime(300);
  });
const move = (x: number) => act(() => state.change(() => ({ x, y: 0, scale: 1 })));

afterEach(() => {
  act(() => render(null, document.body));
  vi.useRealTimers();
});

test("a movement goes on when the address of the one before it comes late", () => {
  vi.useFakeTimers();
  open();
  move(10);
  pause();
  expect(asked).toEqual(["10,0,1"]);
  move(20);
  open("10,0,1");
  expect(state.look.x).toBe(20);
  pause();
  expect(asked).toEqual(["10,0,1", "20,0,1"]);
});

test("another address ends a movement", () => {
  open("5,0,1");
  move(10);
  open("7,0,1");
  expect(state.look.x).toBe(7);
});
