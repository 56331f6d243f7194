/** Readable names of ops and kernels. Copying still yields the raw name. */
import { demangle } from "./demangle/demangle";

/** Longest text that is folded or laid out; names may be megabytes long. */
const MAX_SHOWN = 4096;
const FOLDED_LENGTH = 96;
const DEEPEST_FOLD = 3;

/** `raw`, demangled if it is a mangled C++ name, and truncated if it is too long. */
export function readableName(raw: string): string {
  return cut(demangle(raw) ?? raw);
}

/**
 * `name` with template arguments and parameter lists folded to "<…>" and "(…)", at the deepest
 * level at which the name fits into a line. Short names are not folded. If not even the outermost
 * arguments fit, the first template among them is shown: "kentry<… FmhaFwdKernel …>".
 */
export function foldName(name: string): string {
  if (name.length <= FOLDED_LENGTH || !/[<(]/.test(name)) return name;
  const readable = cut(name);
  for (let depth = DEEPEST_FOLD; depth > 0; depth--) {
    const folded = foldBelow(readable, depth);
    if (folded.length <= FOLDED_LENGTH) return folded;
  }
  const main = mainArgument(foldBelow(readable, 1));
  return main === "" ? foldBelow(readable, 0) : withWords(readable, main);
}

/**
 * `names` folded so that different names stay distinguishable if possible: names that would fold to
 * the same text show those words of their arguments that are not common to all of them, as in
 * "EigenMetaKernel<… TensorConversionOp float …>".
 */
export function foldNames(names: readonly string[]): string[] {
  const folded = names.map(foldName);
  const alike = new Map<string, number[]>();
  folded.forEach((text, at) => {
    if (text === names[at]) return;
    const known = alike.get(text);
    if (known) known.push(at);
    else alike.set(text, [at]);
  });
  for (const group of alike.values()) {
    if (group.length < 2) continue;
    const words = group.map((at) => argumentWords(cut(names[at])));
    const counts = new Map<string, number>();
    for (const word of words.flatMap((set) => [...set])) {
      counts.set(word, (counts.get(word) ?? 0) + 1);
    }
    group.forEach((at, index) => {
      const own = [...words[index]].filter((word) => counts.get(word)! < group.length).join(" ");
      if (own !== "") folded[at] = withWords(names[at], own);
    });
  }
  return folded;
}

/** `text` truncated to `length` characters, with "…" if anything was cut off. */
export function cut(text: string, length = MAX_SHOWN): string {
  return text.length <= length ? text : `${text.slice(0, length)}…`;
}

/** The scope of an op: the first `levels` parts before its own name ("a/b" of "a/b/c/MatMul"). */
export function nameScope(name: string, levels = Number.POSITIVE_INFINITY): string {
  const parts = cut(name).split("/");
  return parts.slice(0, Math.min(parts.length - 1, levels)).join("/");
}

/** The distinct words in a name's arguments, without namespaces. */
function argumentWords(name: string): Set<string> {
  const start = Math.max(name.search(/[<(]/), 0);
  const words = name.slice(start).match(/\w+(?!\w|::)/g) ?? [];
  return new Set(words.filter((word) => word !== "const"));
}

/** "FmhaFwdKernel" of "void ck_tile::kentry<2, ck_tile::FmhaFwdKernel<…>>(…)"; "" for none. */
function mainArgument(folded: string): string {
  return /^[^<(]*<(?:[^<(]*[,\s])??(?:\w+::)*(\w+)<…>/.exec(folded)?.[1] ?? "";
}

function withWords(name: string, words: string): string {
  return `${ownName(name)}<… ${cut(words, FOLDED_LENGTH)} …>`;
}

/** "EigenMetaKernel" of "void Eigen::internal::EigenMetaKernel<...>(...)". */
function ownName(name: string): string {
  return /^[^<(]*?([^<(\s:]+)(?=[<(]|$)/.exec(cut(name, 512))?.[1] ?? cut(name, 32);
}

/** `name` with the content of brackets deeper than `depth` replaced by "…". */
function foldBelow(name: string, depth: number): string {
  let text = "";
  let open = 0;
  for (let index = 0; index < name.length; index++) {
    const token = unbracketed(name, index);
    if (token !== "") {
      if (open <= depth) text += token;
      index += token.length - 1;
      continue;
    }
    const letter = name[index];
    if (letter === "<" || letter === "(") {
      open++;
      if (open === depth + 1) text += isEmptyPair(name, index) ? letter : `${letter}…`;
      else if (open <= depth) text += letter;
    } else if (letter === ">" || letter === ")") {
      if (open > 0 && open <= depth + 1) text += letter;
      open = Math.max(open - 1, 0);
    } else if (open <= depth) text += letter;
  }
  return text;
}

function isEmptyPair(name: string, at: number): boolean {
  return name[at + 1] === (name[at] === "<" ? ">" : ")");
}

/** The token at `at` if its angle signs or parentheses are not brackets, as in "->", else "". */
function unbracketed(name: string, at: number): string {
  const letter = name[at];
  if (letter === "o" && name.startsWith("operator", at)) {
    return (
      /^operator(?:\(\)|<<=?|>>=?|<=>|<=?|>=?|->\*?)?/.exec(name.slice(at, at + 12))?.[0] ?? ""
    );
  }
  if (letter === "-" && name[at + 1] === ">") return "->";
  if (letter === "(" && name.startsWith("(anonymous namespace)", at))
    return "(anonymous namespace)";
  return "";
}
