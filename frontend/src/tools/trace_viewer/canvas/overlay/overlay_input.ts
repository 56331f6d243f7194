/** The input of everything that draws on the overlay. */

import type { EventColors } from "../../../../widgets/canvas/event_colors";
import type { TypeTable } from "../../data/type_table";
import type { HostGroup } from "../../model/lanes/groups";
import type { LaneList, PlacedLane } from "../../model/lanes/lane_layout";
import type { Source } from "../../model/sources";
import type { EventSelection, FlowArrow, Hover, Mark, Span, TimeRange } from "../../model/types";
import type { Scene } from "../../scene/scene";
import type { StepInView } from "../../scene/steps_in_view";
import type { TimeAxis } from "./time_axis";

/** Two lines of text: times of the recording, and of the step. */
export const AXIS_HEIGHT = 40;
/** The height of the line with times of the recording. */
export const AXIS_LINE = 24;

/** The drag in progress, in CSS pixels of the lanes. */
export interface Drag extends Span {
  readonly kind: "box" | "zoom";
  readonly top: number;
  readonly bottom: number;
}

export interface OverlayInput {
  readonly scene: Scene;
  readonly view: Span;
  /** CSS pixels of the lanes. */
  readonly width: number;
  readonly height: number;
  readonly dpr: number;
  readonly lanes: readonly PlacedLane[];
  readonly list: LaneList;
  readonly groups: readonly HostGroup[];
  readonly scrollTop: number;
  readonly axis: TimeAxis;
  readonly steps: readonly StepInView[];
  /** The time of the common axis that is shown as 0. */
  readonly zero: number;
  readonly colors: EventColors;
  readonly types: (source: Source) => TypeTable;
  readonly selection: EventSelection | null;
  readonly hover: Hover | null;
  readonly flows: readonly FlowArrow[];
  readonly range: TimeRange | null;
  readonly marks: readonly Mark[];
  readonly drag: Drag | null;
  /** The position of the pointer on the axis in CSS pixels; null if it is elsewhere. */
  readonly pointerX: number | null;
}

/** A rectangle of the lanes in CSS pixels, before clipping. */
export interface LaneBox {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}
