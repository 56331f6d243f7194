/** The fixed codes of mangled names. Source: Itanium C++ ABI, sections 5.1.3, 5.1.5, 5.1.10. */
export const BUILTINS: Readonly<Record<string, string>> = {
  v: "void",
  w: "wchar_t",
  b: "bool",
  c: "char",
  a: "signed char",
  h: "unsigned char",
  s: "short",
  t: "unsigned short",
  i: "int",
  j: "unsigned int",
  l: "long",
  m: "unsigned long",
  x: "long long",
  y: "unsigned long long",
  n: "__int128",
  o: "unsigned __int128",
  f: "float",
  d: "double",
  e: "long double",
  g: "__float128",
  z: "...",
};

export const EXTENDED_BUILTINS: readonly (readonly [code: string, text: string])[] = [
  ["DF16_", "_Float16"],
  ["DF16b", "__bf16"],
  ["DF32_", "_Float32"],
  ["DF64_", "_Float64"],
  ["Dh", "half"],
  ["Di", "char32_t"],
  ["Ds", "char16_t"],
  ["Du", "char8_t"],
  ["Da", "auto"],
  ["Dc", "decltype(auto)"],
  ["Dn", "std::nullptr_t"],
  ["Df", "decimal32"],
  ["Dd", "decimal64"],
  ["De", "decimal128"],
];

export const STANDARD: Readonly<Record<string, string>> = {
  a: "std::allocator",
  b: "std::basic_string",
  s: "std::string",
  i: "std::istream",
  o: "std::ostream",
  d: "std::iostream",
};

const OPERATOR_CODES =
  "nw new,na new[],dl delete,da delete[],ps +,ng -,ad &,de *,co ~,pl +,mi -,ml *,dv /,rm %,an &," +
  "or |,eo ^,aS =,pL +=,mI -=,mL *=,dV /=,rM %=,aN &=,oR |=,eO ^=,ls <<,rs >>,lS <<=,rS >>=,eq ==," +
  "ne !=,lt <,gt >,le <=,ge >=,ss <=>,nt !,aa &&,oo ||,pp ++,mm --,pm ->*,pt ->,cl (),ix [],qu ?";

export const OPERATORS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(OPERATOR_CODES.split(",").map((entry) => entry.split(" "))),
  cm: ",",
};
