import { expect, test } from "vitest";
import { tailLength } from "./name";

const tail = (text: string) => text.slice(text.length - tailLength(text));

test("of a path the last parts stay that fit", () => {
  expect(tail("Iterator::Prefetch::Generator")).toBe("Generator");
  expect(tail("replica_4/bert/word_embeddings/GatherV2/Cast")).toBe("GatherV2/Cast");
  expect(tail("jit(f)/jit(main)/add")).toBe("jit(main)/add");
});

test("of other names the end stays where they are long", () => {
  expect(tail("MakeTensorFromProto")).toBe("");
  expect(tail("Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs.kd")).toHaveLength(18);
  expect(tail("a/")).toBe("");
  expect(tail("")).toBe("");
});
