import { defineTool } from "../tool";
import { type Profile, parseProfile, textOf } from "./payload";
import { ProgramsPage } from "./view";

export default defineTool<Profile>({
  parse: parseProfile,
  warnings: () => [],
  emptiness: ({ rows }) =>
    rows.length > 0 ? null : "No instruction of a compiled program ran during the recording.",
  finds: (profile, select) => {
    const { rows } = profile;
    const places = [...rows.row.keys()].filter((place) => rows.row[place] >= 0);
    const names = places.map((place) => textOf(profile, rows.name[place]));
    return [
      {
        kind: "Instruction",
        names,
        choose: (name) => {
          const place = places[names.indexOf(name)];
          const program = textOf(profile, rows.programId[place]);
          select({ program_id: program, node_name: name });
        },
      },
    ];
  },
  Page: ProgramsPage,
});
