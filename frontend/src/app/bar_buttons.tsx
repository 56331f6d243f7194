/** The buttons at the right of the bar, the overlays they open, and their keyboard shortcuts. */
import { nextTheme, theme } from "../base/theme";
import { isFinal } from "../capture/types";
import type { CaptureModel } from "../capture/use_capture";

export type ShellOverlay = "help" | "palette" | "capture" | null;

export function BarButtons({
  open,
  capture: { config, status },
}: {
  open: (overlay: ShellOverlay) => void;
  capture: CaptureModel;
}) {
  const isRecording = status !== null && !isFinal(status.state);
  return (
    <span class="bar-buttons">
      {config === null || config.off !== "" ? null : (
        <button
          type="button"
          class="button small capture-button"
          aria-busy={isRecording}
          onClick={() => open("capture")}
        >
          {isRecording ? "Capturing…" : "Capture profile"}
        </button>
      )}
      <button
        type="button"
        class="icon"
        title="Go to (Ctrl K)"
        aria-label="Go to"
        onClick={() => open("palette")}
      >
        ⌕
      </button>
      <button
        type="button"
        class="icon"
        title="Help (?)"
        aria-label="Help"
        onClick={() => open("help")}
      >
        ?
      </button>
      <button
        type="button"
        class="icon"
        title={`Theme: ${theme.value} (t)`}
        aria-label={`Theme: ${theme.value}`}
        onClick={nextTheme}
      >
        ◐
      </button>
    </span>
  );
}

export function shellKeys(open: (overlay: ShellOverlay) => void) {
  return [
    {
      keys: ["Ctrl+k"],
      label: "Go to a page, run, host or name",
      section: "Everywhere",
      inFields: true,
      run: () => open("palette"),
    },
    { keys: ["?"], label: "Help", section: "Everywhere", run: () => open("help") },
    {
      keys: ["t"],
      label: "Switch theme: system, light, dark",
      section: "Everywhere",
      run: nextTheme,
    },
  ];
}
