/** Truncates texts to a width without measuring each of them in the browser. */

const ELLIPSIS = "…";

/** Caches the widths of the characters of one font. */
export class TextFit {
  private readonly widths = new Map<string, number>();
  private readonly ascii = new Float64Array(128).fill(-1);
  private readonly ellipsis: number;

  constructor(private readonly measure: (text: string) => number) {
    this.ellipsis = measure(ELLIPSIS);
  }

  /** `text`, truncated with "…" if it does not fit; "" if not even one character fits. */
  fit(text: string, width: number): string {
    let at = 0;
    let used = 0;
    // Where the text is truncated if it does not fit.
    let cut = 0;
    while (at < text.length) {
      const code = text.codePointAt(at)!;
      const step = code > 0xffff ? 2 : 1;
      used += this.widthOf(text, at, code, step);
      if (used > width) return cut > 0 ? text.slice(0, cut) + ELLIPSIS : "";
      at += step;
      if (used + this.ellipsis <= width) cut = at;
    }
    return text;
  }

  width(text: string): number {
    let width = 0;
    for (const letter of text)
      width += this.widthOf(letter, 0, letter.codePointAt(0)!, letter.length);
    return width;
  }

  private widthOf(text: string, at: number, code: number, step: number): number {
    if (code < 128) {
      if (this.ascii[code] < 0) this.ascii[code] = this.measure(text[at]);
      return this.ascii[code];
    }
    const letter = text.slice(at, at + step);
    let width = this.widths.get(letter);
    if (width === undefined) {
      width = this.measure(letter);
      // Writing systems need few entries; random text could fill the cache.
      if (this.widths.size > 5000) this.widths.clear();
      this.widths.set(letter, width);
    }
    return width;
  }
}
