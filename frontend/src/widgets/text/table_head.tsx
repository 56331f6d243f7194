import type { ComponentChildren } from "preact";

/** The head of a small table: a title above each column. */
export function TableHead({ titles }: { readonly titles: readonly ComponentChildren[] }) {
  return (
    <thead>
      <tr>
        {titles.map((title, index) => (
          <th key={index} scope="col">
            {title}
          </th>
        ))}
      </tr>
    </thead>
  );
}
