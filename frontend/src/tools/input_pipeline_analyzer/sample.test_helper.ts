/** What the server answers for two steps on a TPU, the second of which was not fully recorded. */
import { tableJson } from "../../widgets/table/sample.test_helper";

export function samplePipeline(properties: Readonly<Record<string, string>> = {}): unknown[] {
  return [
    tableJson({
      index: ["Step number", "Core name"],
      "0": ["7", "h:TPU:1"],
      "1": ["8", "unknown"],
    }),
    tableJson(
      {
        stepnum: ["7", "8"],
        infeedTimeMs: [4, 1],
        otherTimeMs: [6, 1],
        stepTimeMs: [10, 2],
        waitingPercentAverage: [40, 50],
        waitingPercentMin: [30, 50],
        waitingPercentMax: [50, 50],
        isTruncated: [false, true],
      },
      {
        input_bottleneck: "host",
        input_conclusion: "The program is highly input-bound: 40.0 % waits. Shorten it.",
        waiting_percent: "40.0",
        infeed_percent_minimum: "30.0",
        infeed_percent_maximum: "50.0",
        worker_count: "2",
        ...properties,
      },
    ),
    tableJson(
      {
        opName: ["Iterator::Map", "Iterator::Batch"],
        count: [4, 2],
        timeInMs: [8, 10],
        timeInPercent: [0.8, 1],
        selfTimeInMs: [8, 2],
        selfTimeInPercent: [0.8, 0.2],
        category: ["Preprocessing", ""],
        waitTimeInMs: [0, 1],
        workTimeInMs: [8, 1],
      },
      {
        preprocessing_us: "9000.000",
        enqueue_us: "1000.000",
        unclassified_nonequeue_us: "0.000",
        program_waiting_us: "4000.000",
        slowest_op: "Iterator::Map",
        slowest_op_us: "8000.000",
      },
    ),
    tableJson({ link: ["text"] }),
    tableJson({ severity: ["WARNING"], message: ["m"] }),
    tableJson({
      category: ["preprocessing"],
      label: ["Preprocessing"],
      ms: [9],
      share: [90],
      is_dominant: [true],
      title: ["Map in parallel"],
      advice: ["Do."],
      guide_title: ["Guide"],
      guide_url: ["https://example.org"],
    }),
    tableJson({
      name: ["Map", "GetNext"],
      role: ["work", "wait"],
      count: [4, 2],
      total_ms: [8, 4],
      self_ms: [8, 4],
      category: ["Preprocessing", ""],
      thread: ["pool", "main"],
      op: ["Iterator::Map", ""],
    }),
    {},
    tableJson({ name: ["train"], line: ["a"], count: [2], median_ms: [5], is_current: [true] }),
  ];
}
