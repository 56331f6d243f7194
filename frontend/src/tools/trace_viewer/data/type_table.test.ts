import { expect, test } from "vitest";
import { GRAY, HUES, hueOfName } from "../../../widgets/canvas/event_colors";
import { TypeTable } from "./type_table";

test("a name of a category has one number, whatever ids it comes with", () => {
  const table = new TypeTable([]);
  const first = table.intern([
    { id: 7, name: "MatMul", category: 1 },
    { id: 9, name: "Cast", category: 1 },
  ]);
  const second = table.intern([
    { id: 9, name: "Cast", category: 1 },
    { id: 11, name: "MatMul", category: 1 },
    { id: 12, name: "MatMul", category: 2 },
  ]);
  expect([...first]).toEqual([0, 1]);
  expect([...second]).toEqual([1, 0, 2]);
  expect(table.numbersOf("MatMul")).toEqual([0, 2]);
  expect(table.numbersOf("Conv")).toEqual([]);
});

test("a long name is known by what tiles have of it", () => {
  const table = new TypeTable([]);
  table.intern([{ id: 7, name: "n".repeat(200), category: 1 }]);
  expect(table.numbersOf("n".repeat(3000))).toEqual([0]);
});

test("colors go by name, by category, or by what the category means", () => {
  const table = new TypeTable([
    { name: "Kernel", meaning: "compute" },
    { name: "Other", meaning: "" },
  ]);
  table.intern([
    { id: 1, name: "MatMul", category: 0 },
    { id: 2, name: "Relu", category: 0 },
    { id: 3, name: "MatMul", category: 1 },
  ]);
  const [byName, byCategory, byMeaning] = (["name", "category", "group"] as const).map((by) =>
    table.colorsBy(by),
  );
  expect(byName[0]).toBe(hueOfName("MatMul"));
  expect(byName[2]).toBe(byName[0]);
  expect(byCategory[0]).toBe(byCategory[1]);
  expect(byCategory[0]).not.toBe(byCategory[2]);
  expect([byMeaning[0], byMeaning[2]]).toEqual([HUES + 2, GRAY]);
});

test("there may be many types", () => {
  const table = new TypeTable([]);
  const types = Array.from({ length: 1000 }, (_, id) => ({ id, name: `op ${id}`, category: 0 }));
  table.intern(types);
  expect(table.colorsBy("name")[999]).toBe(hueOfName("op 999"));
});

test.each([
  [
    "void Eigen::internal::EigenMetaKernel<int, long>(int, long)",
    "EigenMetaKernel<int, long>(int, long)",
  ],
  ["void tensorflow::(anonymous namespace)::Fill<float>(int)", "Fill<float>(int)"],
  ["Iterator::Prefetch::Map", "Iterator::Prefetch::Map"],
  ["model/dense/MatMul:MatMul", "model/dense/MatMul:MatMul"],
  ["", ""],
])("%s is written as %s", (name, short) => {
  const table = new TypeTable([]);
  const [number] = table.intern([{ id: 1, name, category: 0 }]);
  expect(table.shortName(number)).toBe(short);
});
