/** A frame in which a graph can be panned and zoomed by mouse and keyboard. */
import { type ComponentChildren, createContext } from "preact";
import { useContext, useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { formatCount } from "../../base/format";
import { bindKeys, runKey } from "../../base/keys";
import { SmallButton } from "../controls/buttons";
import { graphKeys, ZOOM } from "./graph_keys";
import "./graph.css";
import type { GraphBox, PlacedGraph } from "./shapes";
import { useDrag } from "./viewport/use_drag";
import { type LookState, useLook } from "./viewport/use_look";
import { boxesIn, fitGraph, pan, reveal, zoomViewport } from "./viewport/viewport";

interface GraphFrameProps {
  readonly layout: PlacedGraph;
  /** CSS pixels of the frame. */
  readonly height: number;
  /** The node that is shown initially, and the chosen one, which is kept in view; -1 for none. */
  readonly focus: number;
  readonly chosen: number;
  readonly label: string;
  /** The section of the keys in the help. */
  readonly section: string;
  /** The viewport in the address. */
  readonly lookText: string | undefined;
  readonly select: (patch: { look: string }) => void;
  /** Rendered only when they change: panning must not render hundreds of nodes again. */
  readonly children: ComponentChildren;
}

/** What nodes can do with the frame around them. The object stays the same. */
interface FrameActions {
  readonly zoom: (by: number) => void;
  readonly showAll: () => void;
  /** Pans no further than necessary to bring a box into view. */
  readonly show: (box: GraphBox) => void;
  /** Keeps the viewport when the frame is resized. */
  readonly hold: () => void;
}

const NOTHING: FrameActions = { zoom: () => {}, showAll: () => {}, show: () => {}, hold: () => {} };
const Frame = createContext<FrameActions>(NOTHING);

export function useFrame(): FrameActions {
  return useContext(Frame);
}

const WHEEL = 0.002;
const PIXELS = [1, 16, 400];

export function GraphFrame(props: GraphFrameProps) {
  const { layout, chosen, focus, label, section, lookText, select } = props;
  const element = useRef<HTMLDivElement>(null);
  const state = useLook(element, layout, props.height, focus, lookText, select);
  const { look, frame, change } = state;
  const latest = useRef({ state, layout });
  latest.current = { state, layout };
  const actions = useMemo<FrameActions>(() => {
    const now = () => latest.current;
    return {
      zoom: (by) => {
        const { width, height } = now().state.frame;
        now().state.change((from) => zoomViewport(from, by, width / 2, height / 2));
      },
      showAll: () => now().state.change(() => fitGraph(now().layout, now().state.frame)),
      show: (box) =>
        now().state.change((from) => changed(from, reveal(from, box, now().state.frame))),
      hold: () => now().state.hold(),
    };
  }, []);
  const move = (right: number, down: number) =>
    change((from) => pan(from, right, down, layout, frame));
  const keys = graphKeys(section, { pan: move, zoom: actions.zoom, showAll: actions.showAll });
  // Registered for the help only, so any set of these bindings will do.
  useEffect(() => bindKeys(keys, true), []);
  const drag = useDrag(move);
  useWheel(element, latest);
  const chosenBox = layout.nodes.find(({ node }) => node === chosen);
  useLayoutEffect(() => {
    if (chosenBox && frame.width > 0) actions.show(chosenBox);
  }, [chosen, frame.width > 0, frame.width]);
  const hidden = frame.width === 0 ? 0 : layout.nodes.length - boxesIn(layout, look, frame);
  return (
    <div class="graph-place" style={{ "min-height": `${props.height}px` }}>
      <div
        ref={element}
        class="graph-frame"
        role="group"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys move what is in view
        tabIndex={0}
        aria-label={label}
        title="Drag to pan, Ctrl+wheel to zoom, or use the arrow keys, + and −"
        {...drag}
        onKeyDown={(event) => {
          if (event.target === element.current) runKey(keys, event);
        }}
      >
        {/* Zoomed by CSS: a transform inside the SVG would lay out all texts again each time. */}
        {/* biome-ignore lint/a11y/noSvgWithoutTitle: the group around it has the name */}
        <svg
          class="graph-content"
          width={layout.width}
          height={layout.height}
          style={{
            transform: `scale(${look.scale}) translate(${-look.x}px, ${-look.y}px)`,
          }}
        >
          <Frame.Provider value={actions}>{props.children}</Frame.Provider>
        </svg>
      </div>
      <div class="graph-tools">
        <span class="muted graph-hidden" role="status">
          {hidden > 0 ? `${formatCount(hidden)} out of view` : ""}
        </span>
        <ToolButton sign="−" title="Zoom out (−)" run={() => actions.zoom(1 / ZOOM)} />
        <ToolButton sign="+" title="Zoom in (+)" run={() => actions.zoom(ZOOM)} />
        <ToolButton sign="Fit" title="Fit the graph (0)" run={actions.showAll} />
      </div>
    </div>
  );
}

function ToolButton({ sign, title, run }: { sign: string; title: string; run: () => void }) {
  return (
    <SmallButton title={title} aria-label={title} onClick={run}>
      {sign}
    </SmallButton>
  );
}

/** `before` if the position is the same, so that the address does not change. */
function changed<T extends { x: number; y: number }>(before: T, after: T): T {
  return before.x === after.x && before.y === after.y ? before : after;
}

/** Ctrl+wheel zooms at the pointer, sideways scrolling pans, anything else scrolls the page. */
function useWheel(
  element: { readonly current: HTMLElement | null },
  latest: { readonly current: { readonly state: LookState; readonly layout: PlacedGraph } },
): void {
  useEffect(() => {
    const frame = element.current;
    if (!frame) return;
    const turn = (event: WheelEvent) => {
      const now = latest.current;
      const unit = PIXELS[event.deltaMode] ?? 1;
      if (event.ctrlKey || event.metaKey) {
        event.preventDefault();
        const box = frame.getBoundingClientRect();
        const by = Math.exp(-Math.max(-200, Math.min(event.deltaY * unit, 200)) * WHEEL);
        now.state.change((from) =>
          zoomViewport(from, by, event.clientX - box.left, event.clientY - box.top),
        );
        return;
      }
      const sideways = event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX;
      if (Math.abs(sideways) <= Math.abs(event.shiftKey ? 0 : event.deltaY)) return;
      event.preventDefault();
      now.state.change((from) => pan(from, sideways * unit, 0, now.layout, now.state.frame));
    };
    frame.addEventListener("wheel", turn, { passive: false });
    return () => frame.removeEventListener("wheel", turn);
  }, []);
}
