/** The track of the selected event. */
import type { Section, Track } from "../protocol/payload";
import type { TimelineModel } from "./model";
import { type Source, sourceOf } from "./sources";

interface SelectedTrack {
  readonly source: Source;
  readonly track: Track;
  readonly section: Section;
}

/** null without a selection, or while its position is unknown. */
export function selectedTrack({ selection, hosts }: TimelineModel): SelectedTrack | null {
  const selected = selection.value;
  const host = selected ? hosts.value[selected.host] : undefined;
  const source = host && selected ? sourceOf(host, selected.part) : null;
  const row = selected?.place?.row ?? -1;
  const track = source?.index.tracks.find(
    (candidate) => candidate.row <= row && row < candidate.row + candidate.rows,
  );
  return source && track ? { source, track, section: source.index.sections[track.section] } : null;
}
