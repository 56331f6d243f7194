/** The sections and the step track that belong to a lane. */
import type { Part } from "../../protocol/payload";
import type { HostGroup, SectionGroup, TrackItem } from "./groups";
import type { Lane, TrackLane } from "./lane_layout";

/** Whether a lane is drawn as a busy strip. */
export function isStrip(lane: Lane): boolean {
  if (lane.kind === "section") return lane.isCollapsed && !lane.isIdle;
  return lane.kind === "host" && lane.isCollapsed;
}

/** The sections whose busy share a collapsed header shows: its own, or those of its host's devices. */
export function summarizedSections(
  lane: Lane,
): readonly { readonly part: Part; readonly id: number }[] {
  if (lane.kind === "section") return sectionId(lane.section);
  if (lane.kind !== "host") return [];
  const devices = lane.group.sections.filter(({ kind }) => kind === "device");
  const all = (devices.length > 0 ? devices : lane.group.sections).flatMap(sectionId);
  return all.filter(({ part }) => part === all[0].part);
}

/** The track with the steps of a lane: that of its section, else the first of its host. */
export function stepTrack({
  section,
  group,
}: Pick<TrackLane, "section" | "group">): TrackItem | null {
  const isSteps = ({ track }: TrackItem) => track.kind === "steps";
  return section.tracks.find(isSteps) ?? firstSteps(group, isSteps);
}

function sectionId({ ids }: SectionGroup): { readonly part: Part; readonly id: number }[] {
  if (ids.events >= 0) return [{ part: "events", id: ids.events }];
  return ids.derived >= 0 ? [{ part: "derived", id: ids.derived }] : [];
}

function firstSteps(group: HostGroup, isSteps: (item: TrackItem) => boolean): TrackItem | null {
  for (const section of group.sections) {
    const track = section.tracks.find(isSteps);
    if (track) return track;
  }
  return null;
}
