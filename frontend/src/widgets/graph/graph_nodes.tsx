/** The nodes of a graph: chosen by mouse, navigated by keyboard. */
import { h } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { type Binding, bindKeys, runKey } from "../../base/keys";
import { useFrame } from "./graph_frame";
import { zoomKeys } from "./graph_keys";
import { chosenShape, type NodeBox, type Shape } from "./shapes";

/** An arrow key, and the node that it leads to from a node, if any. */
export interface Walk {
  readonly key: "ArrowLeft" | "ArrowRight" | "ArrowUp" | "ArrowDown";
  readonly label: string;
  readonly to: (node: number) => number | undefined;
}

interface GraphNodesProps {
  /** In the order of drawing. */
  readonly boxes: readonly NodeBox[];
  readonly chosen: number;
  /** The node that Tab reaches first. */
  readonly focus: number;
  /** The sections of the keys of nodes and of the graph in the help. */
  readonly section: string;
  readonly graphSection: string;
  readonly walks: readonly Walk[];
  /** Other keys of a node. */
  readonly more?: (node: number) => readonly Binding[];
  readonly shapes: (node: number) => readonly Shape[];
  readonly kind: (node: number) => string;
  readonly title: (node: number) => string;
  /** null: no node. */
  readonly choose: (node: number | null) => void;
  readonly openTwice?: (node: number) => void;
  /** Handles a click on a part of a node; false if it counts as a click on the node. */
  readonly act?: (node: number, part: Element) => boolean;
}

export function GraphNodes(props: GraphNodesProps) {
  const { boxes, chosen, section, walks } = props;
  const frame = useFrame();
  const choose = (node: number | null) => {
    // The details panel makes the frame narrower.
    frame.hold();
    props.choose(node);
  };
  const group = useRef<SVGGElement>(null);
  const [tabbed, setTabbed] = useState(props.focus);
  useEffect(() => setTabbed(props.focus), [boxes, props.focus]);
  const current = boxes.some(({ node }) => node === tabbed) ? tabbed : (boxes.at(-1)?.node ?? -1);
  const goTo = (node: number | undefined) => {
    if (node === undefined) return;
    setTabbed(node);
    group.current
      ?.querySelector<SVGGElement>(`[data-node="${node}"]`)
      ?.focus({ preventScroll: true });
  };
  const keysOf = (node: number): Binding[] => [
    ...walks.map(({ key, label, to }) => ({
      keys: [key],
      label,
      section,
      run: () => goTo(to(node)),
    })),
    {
      keys: ["Enter", " "],
      label: "Show the details",
      section,
      run: () => choose(chosen === node ? null : node),
    },
    { keys: ["Escape"], label: "Close the details", section, run: () => choose(null) },
    ...(props.more?.(node) ?? []),
  ];
  // Registered for the help only, so any set of these bindings will do.
  useEffect(() => bindKeys(keysOf(-1), true), []);
  const keysAround = zoomKeys(props.graphSection, frame);
  return (
    <g ref={group}>
      {boxes.map((box) => {
        const { node, x, y } = box;
        return (
          <g
            key={node}
            data-node={node}
            data-kind={props.kind(node)}
            class="graph-node"
            role="button"
            tabindex={node === current ? 0 : -1}
            aria-pressed={node === chosen}
            transform={`translate(${x} ${y})`}
            onClick={({ target }) => {
              if (target instanceof Element && props.act?.(node, target)) return;
              choose(chosen === node ? null : node);
            }}
            onDblClick={() => props.openTwice?.(node)}
            onFocus={() => {
              setTabbed(node);
              frame.show(box);
            }}
            onKeyDown={(event) => void runKey([...keysOf(node), ...keysAround], event)}
          >
            <title>{props.title(node)}</title>
            <Shapes shapes={props.shapes(node)} />
            {node === chosen ? <Shapes shapes={[chosenShape(box)]} /> : null}
          </g>
        );
      })}
    </g>
  );
}

export function Shapes({ shapes }: { shapes: readonly Shape[] }) {
  return (
    <>
      {shapes.map(({ kind, attributes, text }, index) =>
        h(kind, { key: index, ...attributes }, text),
      )}
    </>
  );
}

export function Arrow({ id, color }: { id: string; color: string }) {
  return (
    <marker
      id={id}
      viewBox="0 0 8 8"
      refX="7"
      refY="4"
      markerWidth="8"
      markerHeight="8"
      markerUnits="userSpaceOnUse"
      orient="auto"
    >
      <path d="M 0 0 L 8 4 L 0 8 z" fill={color} />
    </marker>
  );
}
