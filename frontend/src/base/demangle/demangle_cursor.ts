/** A cursor over a mangled name that bounds the work of parsing it. */

const MAX_OUTPUT = 65_536;
const MAX_STEPS = 20_000;
const MAX_DEPTH = 200;

/** Thrown at anything that is not a supported mangled name. */
export class NotUnderstood extends Error {}

export class Cursor {
  protected at = 0;
  private steps = 0;
  private depth = 0;

  constructor(protected readonly input: string) {}

  get isAtEnd(): boolean {
    return this.at >= this.input.length;
  }

  protected digits(): string {
    const start = this.at;
    while (/[0-9]/.test(this.peek())) this.at++;
    return this.input.slice(start, this.at);
  }

  protected base36(): number {
    const start = this.at;
    while (/[0-9A-Z]/.test(this.peek())) this.at++;
    return Number.parseInt(this.input.slice(start, this.at), 36);
  }

  protected peek(ahead = 0): string {
    return this.input.charAt(this.at + ahead);
  }

  protected next(): string {
    if (this.isAtEnd) throw new NotUnderstood();
    return this.input[this.at++];
  }

  protected take(text: string): boolean {
    if (!this.input.startsWith(text, this.at)) return false;
    this.at += text.length;
    return true;
  }

  protected expect(text: string): void {
    if (!this.take(text)) throw new NotUnderstood();
  }

  protected nested<T>(parse: () => T): T {
    this.step();
    if (++this.depth > MAX_DEPTH) throw new NotUnderstood();
    const result = parse();
    this.depth--;
    return result;
  }

  protected step(): void {
    if (++this.steps > MAX_STEPS || this.isAtEnd) throw new NotUnderstood();
  }

  protected bounded(text: string): string {
    if (text.length > MAX_OUTPUT) throw new NotUnderstood();
    return text;
  }
}
