/**
 * C++ names from their Itanium-mangled form, for display.
 *
 * Source: Itanium C++ ABI, section 5.1. Compact, not complete: whatever is not understood gives
 * null, and the raw name is shown. Input may be hostile, so length, depth, steps and output are
 * bounded.
 */
import { BUILTINS, EXTENDED_BUILTINS, OPERATORS, STANDARD } from "./demangle_codes";
import { Cursor, NotUnderstood } from "./demangle_cursor";

const MAX_INPUT = 16_384;

/** The readable name, or null where `mangled` is not a mangled name that is understood. */
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

/** What is written before and after a declared name: "void (*" and ")(int)". */
interface Text {
  readonly left: string;
  readonly right: string;
  /** A function or array: a pointer to it needs parentheses. */
  readonly isWrapped?: boolean;
  /** The members, where this is a template argument pack. */
  readonly pack?: readonly Text[];
}

interface Name {
  readonly text: string;
  /** The last part has template arguments, so a function of this name writes its return type. */
  readonly hasReturn: boolean;
  readonly suffix: string;
}

const plain = (left: string): Text => ({ left, right: "" });
const whole = (text: Text): string => text.left + text.right;

class Demangler extends Cursor {
  private substitutions: Text[] = [];
  private templateArgs: readonly Text[] = [];
  private isInLambda = false;
  private packIndex = -1;
  private packLength = -1;

  /** `isLocal`: the scope of another name, which is written without its return type. */
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

  private name(isEncoding: boolean): Name {
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

  /** One name without scope; `component` is the class a constructor is named for. */
  private unqualified(component: string): string {
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

  private sourceName(): string {
    const length = Number(this.digits());
    if (!(length > 0) || this.at + length > this.input.length) throw new NotUnderstood();
    const text = this.input.slice(this.at, this.at + length);
    this.at += length;
    return text.startsWith("_GLOBAL__N") ? "(anonymous namespace)" : text;
  }

  /** The types up to the end, an "E" or a reference qualifier before it, as a parameter list. */
  private parameters(): string {
    const types: string[] = [];
    while (!this.isAtEnd && this.peek() !== "E") {
      if ((this.peek() === "R" || this.peek() === "O") && this.peek(1) === "E") break;
      types.push(whole(this.type()));
    }
    if (types.length === 1 && types[0] === "void") return "";
    return this.bounded(types.filter((type) => type !== "").join(", "));
  }

  private type(): Text {
    return this.nested(() => {
      const next = this.peek();
      const builtin = BUILTINS[next];
      if (builtin !== undefined) {
        this.at++;
        return plain(builtin);
      }
      switch (next) {
        case "K":
        case "V":
        case "r":
          return this.remember(this.qualified());
        case "P":
        case "R":
        case "O":
          this.at++;
          return this.remember(
            pointer(this.type(), next === "P" ? "*" : next === "R" ? "&" : "&&"),
          );
        case "F":
          return this.remember(this.functionType());
        case "A":
          return this.remember(this.arrayType());
        case "M":
          return this.remember(this.memberPointer());
        case "T":
          return this.withArguments(this.remember(this.templateParameter()));
        case "S":
          if (this.peek(1) !== "t") return this.withArguments(this.substitution());
          break;
        case "D":
          return this.extendedType();
        case "U":
          return this.remember(this.vendorQualified());
        case "u":
          this.at++;
          return this.remember(plain(this.sourceName()));
      }
      return this.remember(plain(this.name(false).text));
    });
  }

  private qualified(): Text {
    let suffix = "";
    if (this.take("r")) suffix = ` restrict${suffix}`;
    if (this.take("V")) suffix = ` volatile${suffix}`;
    if (this.take("K")) suffix = ` const${suffix}`;
    const inner = this.type();
    if (inner.isWrapped) return { ...inner, right: inner.right + suffix };
    return { left: inner.left + suffix, right: inner.right };
  }

  private functionType(): Text {
    this.expect("F");
    this.take("Y");
    const result = this.type();
    const parameters = this.parameters();
    const reference = this.take("R") ? " &" : this.take("O") ? " &&" : "";
    this.expect("E");
    return {
      left: spaced(result.left),
      right: `(${parameters})${reference}${result.right}`,
      isWrapped: true,
    };
  }

  private arrayType(): Text {
    this.expect("A");
    const size = /[0-9]/.test(this.peek())
      ? this.digits()
      : this.peek() === "_"
        ? ""
        : this.expression();
    this.expect("_");
    const element = this.type();
    return { left: spaced(element.left), right: `[${size}]${element.right}`, isWrapped: true };
  }

  private memberPointer(): Text {
    this.expect("M");
    const owner = whole(this.type());
    return pointer(this.type(), `${owner}::*`, " ");
  }

  private vendorQualified(): Text {
    this.expect("U");
    const qualifier = this.sourceName();
    const args = this.peek() === "I" ? this.templateArguments(false) : "";
    const inner = this.type();
    return { ...inner, left: `${inner.left} ${qualifier}${args}` };
  }

  private extendedType(): Text {
    if (this.take("Dp")) return this.packExpansion();
    if (this.take("Dt") || this.take("DT")) {
      const expression = this.expression();
      this.expect("E");
      return this.remember(plain(`decltype (${expression})`));
    }
    if (this.take("Dv")) {
      const size = this.digits();
      this.expect("_");
      return this.remember(plain(`${whole(this.type())} __vector(${size})`));
    }
    if (this.take("Do")) return this.remember(this.functionType());
    for (const [code, text] of EXTENDED_BUILTINS) if (this.take(code)) return plain(text);
    throw new NotUnderstood();
  }

  /** The pattern once per member of the argument pack in it. */
  private packExpansion(): Text {
    const saved = { start: this.at, known: this.substitutions.length };
    const outer = { index: this.packIndex, length: this.packLength };
    this.packIndex = 0;
    this.packLength = -1;
    const first = whole(this.type());
    const length = this.packLength;
    const end = this.at;
    const parts = length === 0 ? [] : [first];
    for (let index = 1; index < length; index++) {
      this.at = saved.start;
      this.substitutions.length = saved.known;
      this.packIndex = index;
      parts.push(whole(this.type()));
    }
    this.at = end;
    this.packIndex = outer.index;
    this.packLength = outer.length;
    const text = length < 0 ? `${first}...` : parts.filter((part) => part !== "").join(", ");
    return this.remember(plain(this.bounded(text)));
  }

  private templateParameter(): Text {
    this.expect("T");
    const at = this.peek() === "_" ? 0 : this.base36() + 1;
    this.expect("_");
    // The parameters of a generic lambda have no arguments yet.
    if (this.isInLambda) return plain(`auto:${at + 1}`);
    const argument = this.templateArgs[at];
    if (argument === undefined) throw new NotUnderstood();
    if (argument.pack === undefined) return argument;
    if (this.packIndex < 0) return plain(whole(argument));
    this.packLength = argument.pack.length;
    return argument.pack[this.packIndex] ?? plain("");
  }

  private withArguments(base: Text): Text {
    if (this.peek() !== "I") return base;
    return this.remember(plain(whole(base) + this.templateArguments(false)));
  }

  private templateArguments(isEncoding: boolean): string {
    this.expect("I");
    const args: Text[] = [];
    while (!this.take("E")) args.push(this.templateArgument());
    if (isEncoding) this.templateArgs = args;
    const text = args
      .map(whole)
      .filter((arg) => arg !== "")
      .join(", ");
    return this.bounded(`<${text}>`);
  }

  private templateArgument(): Text {
    return this.nested(() => {
      if (this.peek() === "L") return plain(this.literal());
      if (this.take("X")) {
        const text = this.expression();
        this.expect("E");
        return plain(text);
      }
      if (this.take("J")) {
        const pack: Text[] = [];
        while (!this.take("E")) pack.push(this.templateArgument());
        return { left: this.bounded(pack.map(whole).join(", ")), right: "", pack };
      }
      return this.type();
    });
  }

  private literal(): string {
    this.expect("L");
    if (this.take("_Z")) {
      const savedArgs = this.templateArgs;
      const name = this.encoding();
      this.templateArgs = savedArgs;
      this.expect("E");
      return name;
    }
    const type = whole(this.type());
    const end = this.input.indexOf("E", this.at);
    if (end < 0) throw new NotUnderstood();
    const value = this.input.slice(this.at, end).replace(/^n/, "-");
    if (!/^-?[0-9a-f]*$/.test(value)) throw new NotUnderstood();
    this.at = end + 1;
    if (type === "bool") return value === "0" ? "false" : "true";
    if (type === "std::nullptr_t") return "nullptr";
    const suffixes: Record<string, string> = {
      int: "",
      "unsigned int": "u",
      long: "l",
      "unsigned long": "ul",
    };
    const suffix = suffixes[type];
    return suffix === undefined ? `(${type})${value}` : value + suffix;
  }

  private expression(): string {
    return this.nested(() => {
      if (this.peek() === "L") return this.literal();
      if (this.peek() === "T") return whole(this.templateParameter());
      if (this.take("st")) return `sizeof (${whole(this.type())})`;
      if (this.take("sZ")) return `sizeof...(${whole(this.templateParameter())})`;
      if (this.take("sp")) return `${this.expression()}...`;
      if (this.take("sr")) return `${whole(this.type())}::${this.unqualified("")}`;
      const operator = OPERATORS[this.input.slice(this.at, this.at + 2)];
      if (operator === undefined || /[a-z([?]/.test(operator)) throw new NotUnderstood();
      const code = this.next() + this.next();
      if (["nt", "ng", "ps", "co", "ad", "de"].includes(code))
        return `${operator}(${this.expression()})`;
      return `(${this.expression()})${operator}(${this.expression()})`;
    });
  }

  private substitution(): Text {
    this.step();
    this.expect("S");
    const standard = STANDARD[this.peek()];
    if (standard !== undefined) {
      this.at++;
      return plain(standard);
    }
    const at = this.peek() === "_" ? 0 : this.base36() + 1;
    this.expect("_");
    const known = this.substitutions[at];
    if (known === undefined) throw new NotUnderstood();
    return known;
  }

  private remember(text: Text): Text {
    this.bounded(text.left);
    this.bounded(text.right);
    this.substitutions.push(text);
    return text;
  }

  private ordinal(): number {
    const digits = this.digits();
    this.expect("_");
    return digits === "" ? 1 : Number(digits) + 2;
  }
}

function pointer(target: Text, mark: string, space = ""): Text {
  if (target.isWrapped) return { left: `${target.left}(${mark}`, right: `)${target.right}` };
  // A reference to a reference is one reference: & wins over &&.
  const isReference = mark.startsWith("&") && target.left.endsWith("&");
  if (isReference && (mark === "&&" || !target.left.endsWith("&&"))) return target;
  if (isReference) return { left: target.left.slice(0, -1), right: target.right };
  return { left: target.left + space + mark, right: target.right };
}

function spaced(left: string): string {
  return /[(*& ]$/.test(left) && !/[*&]$/.test(left) ? left : `${left} `;
}
