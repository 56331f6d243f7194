import { BUILTINS, EXTENDED_BUILTINS, STANDARD } from "./demangle_codes";
import { Cursor, NotUnderstood } from "./demangle_cursor";
import { plain, pointer, spaced, type Text, whole } from "./demangle_text";

/** A name, with what follows the parameters of a function of this name. */
export interface Name {
  readonly text: string;
  /** The last part has template arguments; such functions encode their return type. */
  readonly hasReturn: boolean;
  readonly suffix: string;
}

/** Parses types, and substitutions of types that occurred before. */
export abstract class TypeReader extends Cursor {
  protected templateArgs: readonly Text[] = [];
  protected isInLambda = false;
  private substitutions: Text[] = [];
  private packIndex = -1;
  private packLength = -1;

  protected abstract name(isEncoding: boolean): Name;
  protected abstract sourceName(): string;
  protected abstract templateArguments(isEncoding: boolean): string;
  protected abstract expression(): string;

  protected type(): Text {
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

  /** The pattern, repeated for each member of the argument pack in it. */
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

  /** A parameter list: types up to the end, to "E", or to a reference qualifier before "E". */
  protected parameters(): string {
    const types: string[] = [];
    while (!this.isAtEnd && this.peek() !== "E") {
      if ((this.peek() === "R" || this.peek() === "O") && this.peek(1) === "E") break;
      types.push(whole(this.type()));
    }
    if (types.length === 1 && types[0] === "void") return "";
    return this.bounded(types.filter((type) => type !== "").join(", "));
  }

  protected templateParameter(): Text {
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

  protected substitution(): Text {
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

  protected remember(text: Text): Text {
    this.bounded(text.left);
    this.bounded(text.right);
    this.substitutions.push(text);
    return text;
  }
}
