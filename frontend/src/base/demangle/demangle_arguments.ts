import { OPERATORS } from "./demangle_codes";
import { NotUnderstood } from "./demangle_cursor";
import { plain, type Text, whole } from "./demangle_text";
import { TypeReader } from "./demangle_types";

/** Parses template arguments and expressions. */
export abstract class ArgumentReader extends TypeReader {
  protected abstract encoding(): string;
  protected abstract unqualified(component: string): string;

  protected templateArguments(isEncoding: boolean): string {
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

  protected templateArgument(): Text {
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

  protected literal(): string {
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

  protected expression(): string {
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
}
