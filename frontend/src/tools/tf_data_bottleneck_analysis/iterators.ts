/** What is known of tf.data iterators by their type, and how their long names read. */

/** "ParallelMap" of "ParallelMapV2", "Zip" of "Zip[0]". */
export function plainType(type: string): string {
  return type.replace(/(\[\d+\])+$/, "").replace(/V\d+$/, "");
}

/** What iterators of a type do, as the end of a sentence that begins with its name. */
const WORK: Readonly<Record<string, string>> = {
  AssertCardinality: "checks how many elements there are",
  AutoShard: "gives each worker its own part of the data",
  Batch: "joins elements into batches",
  BatchDataset: "joins elements into batches",
  BucketBySequenceLength: "batches elements of similar length",
  Cache: "keeps elements, so that they are made only once",
  Concatenate: "reads one dataset after the other",
  DataService: "gets elements from a tf.data service",
  DatasetFromGraph: "runs a dataset that was sent as a graph",
  DirectedInterleave: "takes each element from the dataset that another one chooses",
  Filter: "drops elements by a function",
  FiniteSkip: "leaves out the first elements",
  FiniteTake: "ends after a number of elements",
  FiniteRepeat: "repeats its input several times",
  FixedLengthRecord: "reads records of one length from files",
  FlatMap: "makes a dataset of each element and reads these in order",
  ForeverRepeat: "repeats its input forever",
  Generator: "calls a Python generator",
  GroupByWindow: "groups elements by a key",
  Interleave: "takes turns among datasets made of its elements",
  LMDB: "reads an LMDB file",
  Map: "applies a function to each element",
  MapAndBatch: "applies a function to elements, several at a time, and batches them",
  MaxIntraOpParallelism: "limits the threads that each op may use",
  MemoryCacheImpl: "hands out what a cache in memory keeps",
  MemoryCache: "hands out what a cache in memory keeps",
  MemoryReader: "hands out what a cache in memory keeps",
  MemoryWriter: "fills a cache in memory",
  FileReader: "hands out what a cache on disk keeps",
  FileWriter: "fills a cache on disk",
  Model: "tunes parallelism and buffers of the stages before it",
  MultiDeviceIterator: "hands elements out to devices",
  Options: "holds options and hands elements on",
  PaddedBatch: "pads elements to one size and batches them",
  ParallelBatch: "makes several batches at a time",
  ParallelFilter: "drops elements by a function that runs for several at a time",
  ParallelInterleave: "takes turns among datasets that are read at the same time",
  LegacyParallelInterleave: "takes turns among datasets that are read at the same time",
  ParallelMap: "applies a function to several elements at a time",
  ParseExample: "parses serialized examples",
  Prefetch: "makes elements ahead of those who ask for them",
  PrivateThreadPool: "gives the stages before it threads of their own",
  Range: "counts",
  RebatchDataset: "makes batches of another size",
  Rebatch: "makes batches of another size",
  Repeat: "repeats its input several times",
  Root: "is what the program calls",
  Scan: "applies a function that carries a state along",
  Shard: "takes every n-th element",
  Shuffle: "keeps a buffer and hands out elements of it at random",
  ShuffleAndRepeat: "shuffles its input and repeats it several times",
  Skip: "leaves out the first elements",
  Snapshot: "keeps elements on disk",
  SparseTensorSlice: "hands out slices of a sparse tensor",
  SSTable: "reads records from files",
  Take: "ends after a number of elements",
  TakeWhile: "ends where a function says so",
  Tensor: "hands out one tensor",
  TensorSlice: "hands out slices of tensors in memory",
  TextLine: "reads lines of text files",
  TFRecord: "reads records of TFRecord files",
  Unbatch: "takes batches apart",
  Unique: "drops elements that it has already seen",
  Window: "makes datasets of several elements each",
  Zip: "puts elements of several datasets side by side",
};

/** "applies a function to each element"; "" where the type is not known. */
export function workOf(type: string): string {
  const plain = plainType(type);
  return Object.hasOwn(WORK, plain) ? WORK[plain] : "";
}

interface NamePart {
  readonly text: string;
  /** What it stands for. */
  readonly meaning: string;
}

const MAX_PARTS = 100;

/**
 * The parts of "Iterator::Root::Prefetch::Batch", in their order: the stage itself is the last one,
 * and its elements go from there to the left.
 */
export function readLongName(longName: string): NamePart[] {
  const parts = longName.split("::").slice(0, MAX_PARTS);
  return parts.map((text, at) => ({ text, meaning: meaningOf(text, at, parts.length) }));
}

function meaningOf(text: string, at: number, length: number): string {
  if (at === 0 && text === "Iterator" && length > 1) return "begins all names of iterators";
  const place =
    at === length - 1 ? "this stage" : at === length - 2 ? "takes its elements" : "further on";
  const work = workOf(text);
  return work === "" ? place : `${place}: ${work}`;
}
