/** The capture dialog: a form with where, what and how long, then the progress of each worker. */
import { ApiError, describeProblem } from "../api/errors";
import { Dialog } from "../widgets/overlays/dialog";
import "./capture.css";
import { CaptureForm } from "./capture_form";
import { CaptureProgress } from "./capture_progress";
import { FIELDS } from "./choices";
import type { CaptureModel } from "./use_capture";

interface CaptureDialogProps {
  readonly model: CaptureModel;
  readonly close: () => void;
  readonly openRun: (run: string) => void;
}

export function CaptureDialog({ model, close, openRun }: CaptureDialogProps) {
  const { config, status, error } = model;
  const field = error instanceof ApiError ? FIELDS[error.field] : undefined;
  return (
    <Dialog title="Capture profile" close={close} className="capture">
      {renderBody()}
      {error !== null && field === undefined ? <Failure error={error} /> : null}
    </Dialog>
  );

  function renderBody() {
    if (config === null) return <p class="muted">Checking the server…</p>;
    if (config.off !== "")
      return <p role="alert">Profiles cannot be captured here: {config.off}.</p>;
    if (status !== null) return <CaptureProgress model={model} status={status} openRun={openRun} />;
    return <CaptureForm model={model} config={config} wrongField={field} />;
  }
}

function Failure({ error }: { error: unknown }) {
  const { title, message, hint } = describeProblem(error);
  return (
    <div class="capture-failure" role="alert">
      <b>{title}.</b> {message} {hint === "" ? null : <span class="muted">{hint}</span>}
    </div>
  );
}
