/** What the marks of the roofline represent. */

export type Per = "op" | "program" | "step";

interface Words {
  readonly noun: string;
  readonly plural: string;
  readonly title: string;
}

export const PER: Readonly<Record<Per, Words>> = {
  op: { noun: "op", plural: "ops", title: "Ops" },
  program: { noun: "program", plural: "programs", title: "Programs" },
  step: { noun: "step", plural: "steps", title: "Steps" },
};

export function perOf(text: string | undefined): Per {
  return text === "program" || text === "step" ? text : "op";
}
