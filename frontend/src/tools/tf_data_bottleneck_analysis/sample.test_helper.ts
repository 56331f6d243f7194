/** A small answer of the server: two hosts, one of which shuffles slowly. */
import type { Cell } from "../../base/csv";
import { rowsJson } from "../../widgets/table/sample.test_helper";

export const GRAPH_IDS =
  "host input_pipeline rank name parent type iterator long_name start_us total_us self_us calls wait_us worker_us parameters";

const BATCH = "Iterator::Root::Prefetch::BatchV2";
export const SHUFFLE = `${BATCH}::Shuffle`;
/** Beyond 2^63. */
export const SHUFFLE_ID = "18446744073709551557";

export const GRAPH_ROWS: Cell[][] = [
  ["Root", "1", "", 1, "Iterator::Root", 1200, 76000, 300, 1, 0, null, "{}"],
  [
    "Prefetch",
    "2",
    "1",
    1,
    "Iterator::Root::Prefetch",
    1210,
    75700,
    500,
    1,
    450,
    70000,
    '{"buffer_limit":-1,"autotune":true}',
  ],
  ["BatchV2", "3", "2", 1, BATCH, 1300, 75200, 1200, 1, 0, null, '{"batch_size":32}'],
  ["Shuffle", SHUFFLE_ID, "3", 2, SHUFFLE, 1400, 74000, 36000, 32, 0, null, '{"buffer_size":1000}'],
  [
    "ParallelMapV2",
    "5",
    SHUFFLE_ID,
    1,
    `${SHUFFLE}::ParallelMapV2`,
    1500,
    38000,
    30000,
    131,
    29000,
    290000,
    '{"parallelism":8,"deterministic":"true"}',
  ],
  [
    "TFRecord",
    "6",
    "5",
    0,
    `${SHUFFLE}::ParallelMapV2::TFRecord`,
    1000,
    9000,
    9000,
    131,
    0,
    null,
    "{}",
  ],
].map(([type, id, parent, kind, longName, ...rest]) => [
  "h0",
  "Host:0",
  0,
  id,
  parent,
  kind,
  type,
  longName,
  ...rest,
]);

export function samplePayload(more: { graph?: Cell[][]; isInputBound?: boolean } = {}) {
  const { graph = GRAPH_ROWS, isInputBound = true } = more;
  return [
    rowsJson(GRAPH_IDS, graph),
    rowsJson(
      "host input_pipeline min mean max num_calls num_slow_calls is_device p50 p95 total_us draws_from histogram",
      [
        ["h0", "Host:0", 21, 7673, 76000, 10, 1, false, 22, 40000, 76730, "", "[9,0,0,1]"],
        ["h0", "Device:0", 3, 5, 8, 100, 0, true, 5, 7, 500, "Host:0", "[100,0,0,0]"],
        ["h1", "Host:0", 30, 40, 60, 20, 4, false, 40, 55, 800, "", "[16,4,0,0]"],
      ],
      { histogram_edges_us: "[1,50,1000,10000,100000]" },
    ),
    rowsJson(
      "host input_pipeline max_latency bottleneck suggestion long_name self_us latency_us iterator_id class",
      [
        [
          "h0",
          "Host:0",
          76000,
          "Shuffle",
          "Shuffle less.",
          SHUFFLE,
          36000,
          74000,
          SHUFFLE_ID,
          "shuffle",
        ],
        ["h1", "Host:0", 60, "Map", "Map in parallel.", "Iterator::Map", 50, 50, "9", "map"],
      ],
      {
        is_input_bound: String(isInputBound),
        severity: isInputBound ? "high" : "good",
        summary_message: "There is a slow input pipeline.",
        most_input_bound_host: "h0",
      },
    ),
    rowsJson(
      "host input_pipeline rank_in_order id severity title detail action code guide_url iterator long_name",
      [
        [
          "h0",
          "Host:0",
          2,
          "cache",
          "low",
          "Cache",
          "It reads again.",
          "Use .cache().",
          "",
          "",
          "TFRecord",
          `${SHUFFLE}::ParallelMapV2::TFRecord`,
        ],
        [
          "h0",
          "Host:0",
          1,
          "shuffle",
          "high",
          "Shuffle filenames",
          "It fills 1,000 elements.",
          "Shuffle what is small.",
          ".shuffle(100).map(f)",
          "https://www.tensorflow.org/guide/data_performance",
          "Shuffle",
          SHUFFLE,
        ],
        [
          "h1",
          "Host:0",
          1,
          "map",
          "moderate",
          "Map in parallel",
          "",
          "",
          "",
          "javascript:alert(1)",
          "Map",
          "Iterator::Map",
        ],
      ],
    ),
    rowsJson("rank start_us duration_us bottleneck thread is_cut", [
      [0, 1200, 76000, "Shuffle", "main", false],
      [1, 90000, 40, "Root", "main", true],
      [2, 91000, 21, "", "main", false],
    ]),
  ];
}
