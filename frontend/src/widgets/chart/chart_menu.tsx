/** The menu of a chart: as a table, and as files. */
import { Menu } from "../overlays/menu";
import { savePng, saveSvg } from "./picture";

interface ChartMenuProps {
  /** Of the chart. */
  readonly title: string;
  readonly isTable: boolean;
  readonly setTable: (isTable: boolean) => void;
  /** Of the files, without their endings. */
  readonly fileName: string;
  readonly saveCsv?: () => void;
  /** An SVG file. */
  readonly picture: () => string;
  /** Why there is none now. */
  readonly noPicture?: string;
  /** What the chart is called: "chart" or "picture". */
  readonly noun?: string;
  /** Other choices, after the first. */
  readonly items?: readonly { readonly label: string; readonly run: () => void }[];
}

export function ChartMenu(props: ChartMenuProps) {
  const { title, isTable, setTable, fileName, saveCsv, picture, items = [] } = props;
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
        { label: "Save as SVG", run: () => saveSvg(fileName, picture()), reason },
        { label: "Save as PNG", run: () => void savePng(fileName, picture()), reason },
      ]}
    />
  );
}
