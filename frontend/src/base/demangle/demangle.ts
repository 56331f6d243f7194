/**
 * Demangles Itanium C++ names for display.
 *
 * Source: Itanium C++ ABI, section 5.1. It covers what occurs in practice; for anything else it
 * returns null, and the raw name is shown. Input is untrusted, so length, depth, steps and output
 * are bounded.
 */
import { ArgumentReader } from "./demangle_arguments";
import { OPERATORS } from "./demangle_codes";
import { NotUnderstood } from "./demangle_cursor";
import { plain, spaced, whole } from "./demangle_text";
import type { Name } from "./demangle_types";

const MAX_INPUT = 16_384;

/** The readable name, or null if `mangled` is not a mangled name or uses an unsupported construct. */
export function demangle(mangled: string): string | null {
  if (!mangled.startsWith("_Z") || mangled.length > MAX_INPUT) return null;
  const dot = mangled.search(/[.@]/);
  const end = dot < 0 ? mangled.length : dot;
  try {
    const parser = new Demangler(mangled.slice(2, end));
    const name = parser.encoding();
    if (!parser.isAtEnd) return null;
    return end < mangled.length ? `${name} [clone ${mangled.slice(end)}]` : name;
  } catch (error) {
    if (error instanceof NotUnderstood) return null;
    throw error;
  }
}

/** Parses names, and encodings of functions and variables. */
class Demangler extends ArgumentReader {
  /** `isLocal`: the scope of a local name, which has no return type. */
  encoding(isLocal = false): string {
    if (this.take("T")) return this.special();
    if (this.take("GV")) return `guard variable for ${this.name(true).text}`;
    const name = this.name(true);
    if (this.isAtEnd || this.peek() === "E") return name.text + name.suffix;
    const result = name.hasReturn ? this.type() : null;
    const call = `${name.text}(${this.parameters()})${name.suffix}`;
    return this.bounded(result && !isLocal ? `${spaced(result.left)}${call}${result.right}` : call);
  }

  private special(): string {
    const kind = this.next();
    if (kind === "h" || kind === "v") {
      while (!this.isAtEnd && this.next() !== "_");
      if (kind === "v") while (!this.isAtEnd && this.next() !== "_");
      return `${kind === "h" ? "non-virtual" : "virtual"} thunk to ${this.encoding()}`;
    }
    const titles: Record<string, string> = {
      V: "vtable for ",
      T: "VTT for ",
      I: "typeinfo for ",
      S: "typeinfo name for ",
    };
    if (titles[kind] === undefined) throw new NotUnderstood();
    return titles[kind] + whole(this.type());
  }

  protected name(isEncoding: boolean): Name {
    return this.nested(() => {
      if (this.take("N")) return this.nestedName(isEncoding);
      if (this.take("Z")) return this.localName();
      if (this.peek() === "S" && this.peek(1) !== "t") {
        const base = whole(this.substitution());
        return { text: base + this.templateArguments(isEncoding), hasReturn: true, suffix: "" };
      }
      const start = this.at;
      const base = this.take("St") ? `std::${this.unqualified("")}` : this.unqualified("");
      const isConversion = this.input.startsWith("cv", start);
      if (this.peek() !== "I") return { text: base, hasReturn: false, suffix: "" };
      this.remember(plain(base));
      const text = base + this.templateArguments(isEncoding);
      return { text, hasReturn: !isConversion, suffix: "" };
    });
  }

  private nestedName(isEncoding: boolean): Name {
    let suffix = "";
    if (this.take("r")) suffix += " restrict";
    if (this.take("V")) suffix += " volatile";
    if (this.take("K")) suffix += " const";
    if (this.take("R")) suffix += " &";
    else if (this.take("O")) suffix += " &&";
    let text = "";
    let component = "";
    let hasReturn = false;
    let isSpecial = false;
    while (!this.take("E")) {
      const next = this.peek();
      if (next === "S" && this.peek(1) === "t") {
        this.at += 2;
        text = component = "std";
        continue;
      }
      if (next === "S") {
        text = whole(this.substitution());
        component = text.replace(/<.*$/s, "").split("::").at(-1) ?? text;
        continue;
      }
      if (next === "T") text = whole(this.templateParameter());
      else if (next === "I") {
        text += this.templateArguments(isEncoding);
        hasReturn = !isSpecial;
      } else {
        isSpecial =
          next === "C" || (next === "D" && /[0-9]/.test(this.peek(1))) || this.isConversion();
        const part = this.unqualified(component);
        if (next !== "C" && next !== "D") component = part;
        text = text === "" ? part : `${text}::${part}`;
        hasReturn = false;
      }
      this.bounded(text);
      if (this.peek() !== "E") this.remember(plain(text));
    }
    return { text, hasReturn, suffix };
  }

  private localName(): Name {
    const savedArgs = this.templateArgs;
    const outer = this.encoding(true);
    this.templateArgs = savedArgs;
    this.expect("E");
    if (this.take("s")) {
      this.discriminator();
      return { text: `${outer}::string literal`, hasReturn: false, suffix: "" };
    }
    if (this.take("d")) {
      this.digits();
      this.expect("_");
    }
    const inner = this.name(false);
    this.discriminator();
    return { ...inner, text: `${outer}::${inner.text}` };
  }

  private discriminator(): void {
    if (!this.take("_")) return;
    if (this.take("_")) {
      this.digits();
      this.expect("_");
    } else this.next();
  }

  private isConversion(): boolean {
    return this.peek() === "c" && this.peek(1) === "v";
  }

  /** An unqualified name; `component` is the class that constructors and destructors are named after. */
  protected unqualified(component: string): string {
    this.step();
    this.take("L");
    const next = this.peek();
    let text: string;
    if (/[0-9]/.test(next)) text = this.sourceName();
    else if (next === "C" && /[1-5I]/.test(this.peek(1))) {
      this.at += 2;
      text = component;
    } else if (next === "D" && /[0-5]/.test(this.peek(1))) {
      this.at += 2;
      text = `~${component}`;
    } else if (this.take("Ut")) text = `{unnamed type#${this.ordinal()}}`;
    else if (this.take("Ul")) {
      const isWithin = this.isInLambda;
      this.isInLambda = true;
      const parameters = this.parameters();
      this.isInLambda = isWithin;
      this.expect("E");
      text = `{lambda(${parameters})#${this.ordinal()}}`;
    } else text = this.operatorName();
    while (this.take("B")) text += `[abi:${this.sourceName()}]`;
    return text;
  }

  private operatorName(): string {
    const code = this.input.slice(this.at, this.at + 2);
    this.at += 2;
    if (code === "cv") return `operator ${whole(this.type())}`;
    if (code === "li") return `operator"" ${this.sourceName()}`;
    const operator = OPERATORS[code];
    if (operator === undefined) throw new NotUnderstood();
    return /[a-z]/.test(operator) ? `operator ${operator}` : `operator${operator}`;
  }

  protected sourceName(): string {
    const length = Number(this.digits());
    if (!(length > 0) || this.at + length > this.input.length) throw new NotUnderstood();
    const text = this.input.slice(this.at, this.at + length);
    this.at += length;
    return text.startsWith("_GLOBAL__N") ? "(anonymous namespace)" : text;
  }

  private ordinal(): number {
    const digits = this.digits();
    this.expect("_");
    return digits === "" ? 1 : Number(digits) + 2;
  }
}
