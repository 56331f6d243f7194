/** C++ declarators, which are written around the names that they declare. */

/** What is written before and after a declared name: "void (*" and ")(int)". */
export interface Text {
  readonly left: string;
  readonly right: string;
  /** A function or array: a pointer to it needs parentheses. */
  readonly isWrapped?: boolean;
  /** The members, where this is a template argument pack. */
  readonly pack?: readonly Text[];
}

export const plain = (left: string): Text => ({ left, right: "" });
export const whole = (text: Text): string => text.left + text.right;

/** A pointer or reference to something; `space` separates it. */
export function pointer(target: Text, mark: string, space = ""): Text {
  if (target.isWrapped) return { left: `${target.left}(${mark}`, right: `)${target.right}` };
  // A reference to a reference is one reference: & wins over &&.
  const isReference = mark.startsWith("&") && target.left.endsWith("&");
  if (isReference && (mark === "&&" || !target.left.endsWith("&&"))) return target;
  if (isReference) return { left: target.left.slice(0, -1), right: target.right };
  return { left: target.left + space + mark, right: target.right };
}

/** With a trailing space, unless it ends with a space or an opening bracket. */
export function spaced(left: string): string {
  return /[(*& ]$/.test(left) && !/[*&]$/.test(left) ? left : `${left} `;
}
