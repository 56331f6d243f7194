import { expect, test } from "vitest";
import { PayloadError } from "../../api/errors";
import { rowsJson } from "../../widgets/table/sample.test_helper";
import { parseTfData } from "./payload";
import { GRAPH_IDS, GRAPH_ROWS, SHUFFLE, SHUFFLE_ID, samplePayload } from "./sample.test_helper";

test("the graph is one execution, its iterators joined by ids beyond 2^63", () => {
  const { graph } = parseTfData(samplePayload());
  expect([graph.host, graph.pipeline, graph.rank]).toEqual(["h0", "Host:0", 0]);
  expect(graph.nodes.map(({ parent }) => parent)).toEqual([-1, 0, 1, 2, 3, 4]);
  const shuffle = graph.nodes[3];
  expect(shuffle).toMatchObject({
    id: SHUFFLE_ID,
    kind: "bottleneck",
    type: "Shuffle",
    longName: SHUFFLE,
    self: 36000,
    calls: 32,
    parameters: [{ name: "buffer_size", value: "1000" }],
  });
  expect(graph.nodes[1].parameters).toEqual([
    { name: "buffer_limit", value: "-1" },
    { name: "autotune", value: "true" },
  ]);
});

test("what was not measured is not a zero", () => {
  const { graph } = parseTfData(samplePayload());
  expect(graph.nodes[0].worker).toBeNaN();
  expect(graph.nodes[0].wait).toBe(0);
  expect(graph.nodes[4].worker).toBe(290000);
});

test("rows of other executions are left out", () => {
  const other = GRAPH_ROWS.map((row) => row.with(2, 1));
  expect(parseTfData(samplePayload({ graph: [...GRAPH_ROWS, ...other] })).graph.nodes.length).toBe(
    6,
  );
});

test("iterators without their caller stand alone, loops are cut", () => {
  const asked = (id: string, parent: string) => GRAPH_ROWS[0].with(3, id).with(4, parent);
  const parents = (rows: ReturnType<typeof asked>[]) =>
    parseTfData(samplePayload({ graph: rows })).graph.nodes.map(({ parent }) => parent);
  expect(parents([asked("1", ""), asked("2", "77")])).toEqual([-1, -1]);
  expect(parents([asked("1", "1")])).toEqual([-1]);
  expect(parents([asked("1", "3"), asked("2", "1"), asked("3", "2")])).toEqual([2, -1, 1]);
});

test("pipelines, the verdict, and advice in the order in which to try it", () => {
  const data = parseTfData(samplePayload());
  expect(
    data.pipelines.map(({ host, name, calls, slowCalls }) => [host, name, calls, slowCalls]),
  ).toEqual([
    ["h0", "Host:0", 10, 1],
    ["h0", "Device:0", 100, 0],
    ["h1", "Host:0", 20, 4],
  ]);
  expect(data.pipelines[1]).toMatchObject({
    isDevice: true,
    drawsFrom: "Host:0",
    histogram: [100, 0, 0, 0],
  });
  expect(data.edges).toEqual([1, 50, 1000, 10000, 100000]);
  expect(data.isInputBound).toBe(true);
  expect(data.bottlenecks[0]).toMatchObject({
    host: "h0",
    type: "Shuffle",
    id: SHUFFLE_ID,
    maxLatency: 76000,
  });
  expect(data.advice.map(({ id }) => id)).toEqual(["shuffle", "map", "cache"]);
  expect(data.executions.map(({ rank, duration }) => [rank, duration])).toEqual([
    [0, 76000],
    [1, 40],
    [2, 21],
  ]);
});

test("parameters and histograms that are no JSON are none", () => {
  const graph = [GRAPH_ROWS[0].with(-1, "<b>"), GRAPH_ROWS[1].with(-1, "[1]")];
  const data = parseTfData(samplePayload({ graph }));
  expect(data.graph.nodes.map(({ parameters }) => parameters)).toEqual([[], []]);
});

test("a trace without tf.data has no rows", () => {
  const data = parseTfData([{}, {}, rowsJson("host", [], { summary_message: "None." })]);
  expect([data.graph.nodes, data.pipelines, data.message]).toEqual([[], [], "None."]);
});

test("anything else is refused", () => {
  expect(() => parseTfData({})).toThrow(PayloadError);
  expect(() => parseTfData([])).toThrow(PayloadError);
  const broken = rowsJson(GRAPH_IDS, GRAPH_ROWS);
  expect(() => parseTfData([{ ...broken, columns: [[1]] }, {}, {}])).toThrow(PayloadError);
});
