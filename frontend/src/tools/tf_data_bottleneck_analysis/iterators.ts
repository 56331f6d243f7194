/** Descriptions of tf.data iterator types, and explanations of long names. */

/** "ParallelMap" for "ParallelMapV2", "Zip" for "Zip[0]". */
export function plainType(type: string): string {
  return type.replace(/(\[\d+\])+$/, "").replace(/V\d+$/, "");
}

/** What iterators of a type do, as a predicate to the type's name. */
const WORK: Readonly<Record<string, string>> = {
  AssertCardinality: "checks the number of elements",
  AutoShard: "gives each worker its own part of the data",
  Batch: "combines elements into batches",
  BatchDataset: "combines elements into batches",
  BucketBySequenceLength: "batches elements of similar length",
  Cache: "caches elements, so that they are produced only once",
  Concatenate: "reads one dataset after the other",
  DataService: "gets elements from a tf.data service",
  DatasetFromGraph: "runs a dataset that is stored as a graph",
  DirectedInterleave: "takes each element from the dataset that another one chooses",
  Filter: "filters elements by a function",
  FiniteSkip: "skips the first elements",
  FiniteTake: "ends after a number of elements",
  FiniteRepeat: "repeats its input several times",
  FixedLengthRecord: "reads records of fixed length from files",
  FlatMap: "creates a dataset for each element and reads them in order",
  ForeverRepeat: "repeats its input forever",
  Generator: "calls a Python generator",
  GroupByWindow: "groups elements by a key",
  Interleave: "interleaves datasets created for its elements",
  LMDB: "reads an LMDB file",
  Map: "applies a function to each element",
  MapAndBatch: "applies a function to elements, several at a time, and batches them",
  MaxIntraOpParallelism: "limits the threads that each op may use",
  MemoryCacheImpl: "returns elements of a cache in memory",
  MemoryCache: "returns elements of a cache in memory",
  MemoryReader: "returns elements of a cache in memory",
  MemoryWriter: "fills a cache in memory",
  FileReader: "returns elements of a cache on disk",
  FileWriter: "fills a cache on disk",
  Model: "tunes parallelism and buffers of the stages before it",
  MultiDeviceIterator: "distributes elements to devices",
  Options: "sets options and passes elements on",
  PaddedBatch: "pads elements to one size and batches them",
  ParallelBatch: "builds several batches at a time",
  ParallelFilter: "filters elements by a function, several at a time",
  ParallelInterleave: "interleaves datasets that are read in parallel",
  LegacyParallelInterleave: "interleaves datasets that are read in parallel",
  ParallelMap: "applies a function to several elements at a time",
  ParseExample: "parses serialized examples",
  Prefetch: "prepares elements before they are requested",
  PrivateThreadPool: "gives the stages before it their own threads",
  Range: "counts",
  RebatchDataset: "builds batches of another size",
  Rebatch: "builds batches of another size",
  Repeat: "repeats its input several times",
  Root: "is what the program calls",
  Scan: "applies a function with a running state",
  Shard: "takes every n-th element",
  Shuffle: "returns random elements of a buffer",
  ShuffleAndRepeat: "shuffles its input and repeats it several times",
  Skip: "skips the first elements",
  Snapshot: "saves elements to disk",
  SparseTensorSlice: "returns slices of a sparse tensor",
  SSTable: "reads records from files",
  Take: "ends after a number of elements",
  TakeWhile: "ends when a function returns false",
  Tensor: "returns one tensor",
  TensorSlice: "returns slices of tensors in memory",
  TextLine: "reads lines of text files",
  TFRecord: "reads records of TFRecord files",
  Unbatch: "splits batches into elements",
  Unique: "drops elements that it has already seen",
  Window: "groups elements into datasets",
  Zip: "pairs up elements of several datasets",
};

/** "applies a function to each element"; "" if the type is unknown. */
export function workOf(type: string): string {
  const plain = plainType(type);
  return Object.hasOwn(WORK, plain) ? WORK[plain] : "";
}

interface NamePart {
  readonly text: string;
  /** Its meaning. */
  readonly meaning: string;
}

const MAX_PARTS = 100;

/**
 * Explains the parts of "Iterator::Root::Prefetch::Batch", in order. The last part is the stage
 * itself; its elements pass through the others from right to left.
 */
export function readLongName(longName: string): NamePart[] {
  const parts = longName.split("::").slice(0, MAX_PARTS);
  return parts.map((text, index) => ({ text, meaning: meaningOf(text, index, parts.length) }));
}

function meaningOf(text: string, at: number, length: number): string {
  if (at === 0 && text === "Iterator" && length > 1) return "begins all names of iterators";
  const place =
    at === length - 1 ? "this stage" : at === length - 2 ? "takes its elements" : "further on";
  const work = workOf(text);
  return work === "" ? place : `${place}: ${work}`;
}
