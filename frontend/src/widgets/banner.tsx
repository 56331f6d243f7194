/** One line where there is something to say, with the particulars on demand. */
import { useState } from "preact/hooks";
import type { Warning } from "../api/types";
import { plural } from "../base/format";

const FIRST = 50;

export function Banner({ warnings }: { warnings: readonly Warning[] }) {
  const [isOpen, setOpen] = useState(false);
  if (warnings.length === 0) return null;
  const unique = [...new Set(warnings.map((warning) => warning.message))];
  const rest = unique.length > 2 ? ` · ${plural(unique.length - 2, "more warning")}` : "";
  const hasDetails =
    warnings.length > 2 || warnings.some((warning) => warning.hint !== "" || warning.host !== "");
  return (
    <section class="banner" aria-label="Warnings">
      <div class="banner-line">
        <span aria-hidden="true">⚠</span>
        <span class="banner-text">
          {unique.slice(0, 2).join(" · ")}
          {rest}
        </span>
        {hasDetails ? (
          <button
            type="button"
            class="link"
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
          >
            details {isOpen ? "▴" : "▾"}
          </button>
        ) : null}
      </div>
      {isOpen ? (
        <ul>
          {warnings.slice(0, FIRST).map((warning, at) => (
            <li key={at}>
              {warning.host ? <b>{warning.host}: </b> : null}
              {warning.message}
              {warning.hint ? <span class="muted"> {warning.hint}</span> : null}
            </li>
          ))}
          {warnings.length > FIRST ? (
            <li>{plural(warnings.length - FIRST, "more warning")}</li>
          ) : null}
        </ul>
      ) : null}
    </section>
  );
}
