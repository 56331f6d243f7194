/** The card that describes what is under the pointer. */
import type { RefObject } from "preact";
import { plural } from "../../../base/format";
import { cut, foldName, readableName } from "../../../base/names";
import { PointerCard } from "../../../widgets/overlays/pointer_card";
import { formatValue } from "../lanes/lane_facts";
import type { TimelineModel } from "../model/model";
import { formatInstant, formatPs } from "../model/time";
import type { Hover, HoverValue } from "../model/types";
import { indexOf } from "../page/page";
import { trackOfRow } from "../page/selection/reveal";

interface HoverCardProps {
  readonly model: TimelineModel;
  /** The origin of the pointer's position. */
  readonly canvas: RefObject<HTMLElement | null>;
}

export function HoverCard({ model, canvas }: HoverCardProps) {
  const event = model.hover.value;
  const value = model.hoverValue.value;
  const hover = event ?? value;
  const place = canvas.current?.getBoundingClientRect();
  if (!hover || !place) return null;
  return (
    <PointerCard x={place.left + hover.x} y={place.top + hover.y}>
      {event ? <HoverText model={model} hover={event} /> : null}
      {value && !event ? <ValueText model={model} hover={value} /> : null}
    </PointerCard>
  );
}

function ValueText({ model, hover }: { model: TimelineModel; hover: HoverValue }) {
  const { name, unit, at, value } = hover;
  const { hosts, zero } = model;
  const where = hosts.value.length > 1 ? (hosts.value[hover.host]?.host ?? "") : "";
  return (
    <>
      <div class="trace-hover-name">{cut(name, 300) || "(no name)"}</div>
      <div>
        <b>{formatValue(value.last, unit)}</b> at {formatInstant(Math.round(at - zero.value))}
      </div>
      {value.min === value.max ? null : (
        <div>
          between {formatValue(value.min, unit)} and {formatValue(value.max, unit)} around there
        </div>
      )}
      {where === "" ? null : <div class="muted">{where.slice(0, 200)}</div>}
    </>
  );
}

function HoverText({ model, hover }: { model: TimelineModel; hover: Hover }) {
  const host = model.hosts.value[hover.host];
  const index = indexOf(host, hover.part);
  if (!host || !index) return null;
  const track = trackOfRow(index.tracks, hover.row);
  const category = index.categories[hover.category]?.name ?? "";
  const { startPs } = hover.event ?? hover;
  const name = cut(foldName(readableName(hover.name)), 300);
  // The duration of an event that is short in the picture is too inexact to show.
  const isRough = hover.event === null && hover.roundingPs * 100 > hover.durationPs;
  const where = [track?.name ?? "", model.hosts.value.length > 1 ? host.host : ""];
  return (
    <>
      <div class="trace-hover-name">{name || "(no name)"}</div>
      {hover.count > 1 ? (
        <div>
          {plural(hover.count, "event")} within {formatPs(hover.durationPs + hover.roundingPs)}, too
          short to be drawn apart; this is the longest
          {hover.event ? `: ${formatPs(hover.event.durationPs)}` : ""}
        </div>
      ) : (
        <div>
          <b>{isRough ? "…" : formatPs((hover.event ?? hover).durationPs)}</b> from{" "}
          {formatInstant(startPs + host.offsetPs - model.zero.value)}
        </div>
      )}
      <div class="muted">{[category, ...where].filter(Boolean).join(" · ").slice(0, 200)}</div>
    </>
  );
}
