import { describe, expect, it } from "vitest";
import { layProgram, NODE } from "./graph/program_layout";
import { definitionsOf, piecesOf, searchLines } from "./hlo_lines";
import { parseGraph } from "./payload";
import { instructionEvents } from "./trace_events";

const node = (id: number, cluster = 0) => ({ id, name: `n.${id}`, cluster, opcode: "add" });
const edge = (from: number, to: number, operand = 0) => ({ from, to, operand, tuple_index: -1 });
const cluster = (parent: number) => ({ computation: `c${parent}`, parent, callers: [] });

/** 0 -> [1 -> 2] -> 3, where 1 and 2 are inside an opened fusion; 0 -> 3 passes it. */
const OPENED = {
  programs: [{ program_id: "7", name: "jit_f", host: "h0", device_ps: 5_000_000 }],
  program_id: "7",
  name: "jit_f",
  center: 3,
  center_name: "n.3",
  hops: 2,
  nodes: [node(3), node(0), node(1, 1), node(2, 1)],
  edges: [edge(0, 1), edge(1, 2), edge(2, 3), edge(0, 3, 1)],
  clusters: [cluster(-1), { ...cluster(0), owner: { name: "fusion.1" } }],
};

describe("payload", () => {
  it("reads times, and NaN for what is not known", () => {
    const graph = parseGraph(OPENED);
    expect(graph.programs[0].time).toBe(5);
    expect(graph.nodes[0].self).toBeNaN();
    expect(graph.nodes[0].flops).toBeNaN();
    expect(graph.clusters[1].owner?.name).toBe("fusion.1");
  });

  it("refuses graphs whose parts lead nowhere", () => {
    for (const broken of [
      null,
      {},
      { ...OPENED, edges: [edge(0, 9)] },
      { ...OPENED, nodes: [node(0, 5)], edges: [] },
      { ...OPENED, clusters: [cluster(-1), cluster(1)] },
    ])
      expect(() => parseGraph(broken)).toThrow();
  });
});

describe("layout", () => {
  const layout = layProgram(parseGraph(OPENED));
  const boxOf = (id: number) => layout.nodes.find((box) => box.node === id)!;

  it("has operands above users, also across a frame", () => {
    expect([0, 1, 2, 3].map((id) => boxOf(id).y)).toEqual(
      [0, 1, 2, 3].map((id) => boxOf(id).y).sort((a, b) => a - b),
    );
  });

  it("has what is open inside its frame, and nothing else", () => {
    const [frame] = layout.clusters;
    const isInside = (id: number) => {
      const { x, y } = boxOf(id);
      return (
        x >= frame.x &&
        y >= frame.y &&
        x + NODE.width <= frame.x + frame.width &&
        y + NODE.height <= frame.y + frame.height
      );
    };
    expect([0, 1, 2, 3].filter(isInside)).toEqual([1, 2]);
  });

  it("draws every edge from the bottom of its start to the top of its end", () => {
    expect(layout.edges.length).toBe(4);
    for (const { edge: of, path } of layout.edges) {
      const numbers = path.match(/-?[\d.]+/g)!.map(Number);
      expect(numbers[1]).toBeCloseTo(boxOf(of.from).y + NODE.height, 0);
      expect(numbers.at(-1)).toBeCloseTo(boxOf(of.to).y, 0);
    }
  });

  it("is empty where there is nothing", () => {
    const none = layProgram(parseGraph({ ...OPENED, nodes: [], edges: [], clusters: [] }));
    expect([none.width, none.nodes.length]).toEqual([0, 0]);
  });
});

describe("HLO text", () => {
  const lines = [
    "ENTRY %main () -> f32[] {",
    "  %a.1 = f32[] constant(1)",
    "  ROOT %b = f32[] negate(%a.1)",
    "}",
  ];

  it("finds where names are defined, and links to them alone", () => {
    const definitions = definitionsOf(lines);
    expect([...definitions]).toEqual([
      ["main", 0],
      ["a.1", 1],
      ["b", 2],
    ]);
    expect(piecesOf("  %x = f32[] add(%a.1, %y)", definitions)).toEqual([
      { text: "  %x = f32[] add(" },
      { text: "%a.1", name: "a.1" },
      { text: ", %y)" },
    ]);
  });

  it("finds lines without regard to case, and no pattern", () => {
    expect(searchLines(lines, "NEGATE(")).toEqual([2]);
    expect(searchLines(lines, "")).toEqual([]);
  });
});

it("events of TPUs have the instruction's name, others say it in an argument", () => {
  expect(instructionEvents({ deviceType: "TPU" }, { name: "f.1" })).toEqual({ q: "whole:f.1" });
  expect(instructionEvents({ deviceType: "GPU" }, { name: "f.1" })).toEqual({
    q: "arg:hlo_op=f.1",
  });
});
