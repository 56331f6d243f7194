/** A chart's menu: show it as a table, save it as a file. */
import { Menu } from "../overlays/menu";

interface ChartMenuProps {
  /** Of the chart. */
  readonly title: string;
  readonly isTable: boolean;
  readonly setTable: (isTable: boolean) => void;
  /** Of the files, without their endings. */
  readonly fileName: string;
  readonly saveCsv?: () => void;
  /** The chart as SVG; the code that draws it is loaded on demand. */
  readonly picture: () => Promise<string>;
  /** Why it cannot be saved as a picture now. */
  readonly noPicture?: string;
  /** What the chart is called: "chart" or "picture". */
  readonly noun?: string;
  /** Other choices, after the first. */
  readonly items?: readonly { readonly label: string; readonly run: () => void }[];
}

export function ChartMenu(props: ChartMenuProps) {
  const { title, isTable, setTable, saveCsv, items = [] } = props;
  const reason = props.noPicture;
  return (
    <Menu
      label="⋯"
      title={`Menu of “${title}”`}
      buttonClass="icon"
      width={200}
      items={[
        {
          label: isTable ? `As ${props.noun ?? "chart"}` : "As table",
          run: () => setTable(!isTable),
        },
        ...items,
        ...(saveCsv ? [{ label: "Save as CSV", run: saveCsv }] : []),
        { label: "Save as SVG", run: () => void save("saveSvg", props), reason },
        { label: "Save as PNG", run: () => void save("savePng", props), reason },
      ]}
    />
  );
}

async function save(format: "saveSvg" | "savePng", { fileName, picture }: ChartMenuProps) {
  const [files, svg] = await Promise.all([import("./picture"), picture()]);
  await files[format](fileName, svg);
}
