/**
 * Where modules may import from: the rooms of the trace viewer, and no circles anywhere. And names
 * of types, which say what they hold without the name of a file.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, test } from "vitest";

const SOURCES = import.meta.dirname;

/** From below: a room may import from those above it in this list, and from outside of the tool. */
const ROOMS: Readonly<Record<string, string>> = {
  protocol: "what the server is asked, and what it answers",
  model: "what the page knows and shows: types, lanes, times, colors",
  data: "what a view fetches as it moves, and keeps",
  page: "the state of the page, its address, what brings hosts and events into view",
  scene: "a view as rectangles, and which of them is at a place",
  canvas: "pixels: rectangles, what is drawn over them, the time axis",
  lanes: "labels beside the canvas, and how lanes are arranged",
  pointer: "what the pointer and the keys do on the canvas",
  search: "search, filter and results",
  list: "events as a list instead of a picture",
  frame: "what lies around the timeline",
  drawer: "details of an event, aggregates of a range",
  call_tree: "the nested events of a range as a tree",
  flame: "such a tree as a flame graph",
  calls: "the pane of both, loaded when it is opened, and the tree as a table",
};

test("no modules import each other in a circle", () => {
  const imports = new Map(sourceFiles().map((file) => [file, importsOf(file)]));
  expect(findCircle(imports)).toEqual([]);
});

test("rooms of the trace viewer import from rooms below them alone", () => {
  const home = "tools/trace_viewer/";
  const order = Object.keys(ROOMS);
  const folders = readdirSync(join(SOURCES, home), { withFileTypes: true });
  expect(folders.filter((entry) => entry.isDirectory()).map(({ name }) => name)).toEqual(
    [...order].sort(),
  );
  const roomOf = (file: string) => (file.startsWith(home) ? file.split("/")[2] : null);
  const upward = sourceFiles()
    .filter((file) => order.includes(roomOf(file) ?? ""))
    .flatMap((file) =>
      importsOf(file)
        .filter((other) => roomOf(other) !== null && roomOf(other) !== roomOf(file))
        .filter((other) => !(rank(roomOf(other)) < rank(roomOf(file))))
        .map((other) => `${file} imports ${other}`),
    );
  expect(upward).toEqual([]);

  function rank(room: string | null): number {
    const index = order.indexOf(room ?? "");
    return index < 0 ? Number.POSITIVE_INFINITY : index;
  }
});

const TYPE = /^(?:export )?(?:abstract )?(?:interface|type|class|enum) (\w+)/gm;

test("no two modules declare a type of the same name", () => {
  const homes = new Map<string, string[]>();
  for (const file of allFiles())
    for (const [, name] of readFileSync(join(SOURCES, file), "utf8").matchAll(TYPE))
      homes.set(name, [...(homes.get(name) ?? []), file]);
  expect([...homes].filter(([, files]) => files.length > 1)).toEqual([]);
});

/** Relative to src. */
function allFiles(): string[] {
  return readdirSync(SOURCES, { recursive: true, encoding: "utf8" })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => /\.tsx?$/.test(file));
}

/** Without tests. */
function sourceFiles(): string[] {
  return allFiles().filter((file) => !/\.test(_helper)?\.tsx?$/.test(file));
}

const IMPORT = /^(?:import|export)\s(?:[^"';]*\sfrom\s)?"(\.{1,2}\/[^"]+)";/gm;

/** What is imported at the top, types included; pages that are loaded later may lead back. */
function importsOf(file: string): string[] {
  const text = readFileSync(join(SOURCES, file), "utf8");
  return [...text.matchAll(IMPORT)].flatMap(([, specifier]) => {
    const path = join(SOURCES, dirname(file), specifier);
    const module = ["", ".ts", ".tsx", "/index.ts"].map((end) => path + end).find(isModule);
    return module ? [relative(SOURCES, module).replaceAll("\\", "/")] : [];
  });
}

function isModule(path: string): boolean {
  return /\.tsx?$/.test(path) && existsSync(path);
}

/** The modules of one circle, in order; [] where there is none. */
function findCircle(imports: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): string[] => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return [];
    for (const other of imports.get(file) ?? []) {
      const circle = visit(other, [...path, file]);
      if (circle.length > 0) return circle;
    }
    done.add(file);
    return [];
  };
  for (const file of imports.keys()) {
    const circle = visit(file, []);
    if (circle.length > 0) return circle;
  }
  return [];
}
