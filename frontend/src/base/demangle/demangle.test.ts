import { expect, test } from "vitest";
import { demangle } from "./demangle";

const NAMES: readonly (readonly [mangled: string, readable: string])[] = [
  ["_Z3foov", "foo()"],
  ["_Z3addiPKfRd", "add(int, float const*, double&)"],
  ["_ZN5Eigen8internal3fooEv", "Eigen::internal::foo()"],
  ["_ZNK3Foo3barEi", "Foo::bar(int) const"],
  ["_ZN3FooC1Ev", "Foo::Foo()"],
  ["_ZN3FooD2Ev", "Foo::~Foo()"],
  ["_ZN12_GLOBAL__N_16kernelEv", "(anonymous namespace)::kernel()"],
  ["_Z6kernelIfLi4EEvPT_i", "void kernel<float, 4>(float*, int)"],
  ["_Z1fIJifEEvDpOT_", "void f<int, float>(int&&, float&&)"],
  ["_Z1fIJEEvDpOT_", "void f<>()"],
  ["_Z3minIiET_S0_S0_", "int min<int>(int, int)"],
  ["_ZSt4moveIRiEvOT_", "void std::move<int&>(int&)"],
  [
    "_ZNSt6vectorIiSaIiEE9push_backERKi",
    "std::vector<int, std::allocator<int>>::push_back(int const&)",
  ],
  ["_Z1fPFviE", "f(void (*)(int))"],
  ["_Z1fRA4_i", "f(int (&)[4])"],
  ["_Z1fM1AFivE", "f(int (A::*)())"],
  ["_ZplRK1AS1_", "operator+(A const&, A const&)"],
  ["_ZN1AcvbEv", "A::operator bool()"],
  ["_ZZ4mainENKUliE_clEi", "main::{lambda(int)#1}::operator()(int) const"],
  ["_ZTIZ1fIiEvvEUlT_RKT0_E_", "typeinfo for f<int>()::{lambda(auto:1, auto:2 const&)#1}"],
  ["_Z1fIJRA71_KcEEvDpOT_", "void f<char const (&)[71]>(char const (&)[71])"],
  ["_ZTV3Foo", "vtable for Foo"],
  ["_Z3foov.constprop.0", "foo() [clone .constprop.0]"],
  ["_Z4scanILb1ELj32EEvv", "void scan<true, 32u>()"],
  [
    "_ZN5Eigen8internal15EigenMetaKernelINS_15TensorEvaluatorIKNS_9TensorMapIiEENS_9GpuDeviceEEElEEvT_T0_",
    "void Eigen::internal::EigenMetaKernel<Eigen::TensorEvaluator<Eigen::TensorMap<int> const, Eigen::GpuDevice>, long>(Eigen::TensorEvaluator<Eigen::TensorMap<int> const, Eigen::GpuDevice>, long)",
  ],
];

test.each(NAMES)("%s is read", (mangled, readable) => {
  expect(demangle(mangled)).toBe(readable);
});

test.each([
  "volta_h884gemm",
  "_Z",
  "_Z3fo",
  "_ZN",
  "_ZN3foo",
  "_Z1fT_",
  "_Z1fS_",
  "_Z1f?",
  "_Z99999999999f",
])("%s is left alone", (raw) => {
  expect(demangle(raw)).toBeNull();
});

test("hostile input ends quickly and without a name", () => {
  const before = process.cpuUsage();
  expect(demangle(`_Z${"N".repeat(15_000)}`)).toBeNull();
  expect(demangle(`_Z1f${"P".repeat(15_000)}i`)).toBeNull();
  expect(demangle(`_Z${"a".repeat(1_000_000)}`)).toBeNull();
  // Every substitution doubles the text of the one before it.
  const doubling = Array.from({ length: 30 }, (_, index) => {
    const last = index === 0 ? "i" : `S${(index - 1).toString(36).toUpperCase()}_`;
    return `1aI${last}${last}E`;
  }).join("");
  demangle(`_Z1f${doubling}`);
  // In µs, however busy the machine is.
  expect(process.cpuUsage(before).user).toBeLessThan(1_000_000);
});
