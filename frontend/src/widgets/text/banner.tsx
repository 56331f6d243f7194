/** A one-line banner of warnings, with details on demand. */
import { useState } from "preact/hooks";
import type { Warning } from "../../api/types";
import { plural } from "../../base/format";
import { LinkButton } from "../controls/buttons";

const FIRST = 50;

interface BannerProps {
  readonly summary: readonly string[];
  readonly details: readonly Warning[];
}

export function Banner({ summary, details }: BannerProps) {
  const [isOpen, setOpen] = useState(false);
  if (summary.length === 0) return null;
  const rest = summary.length > 2 ? ` · ${plural(summary.length - 2, "more warning")}` : "";
  const hasDetails =
    details.length > 2 || details.some((warning) => warning.hint !== "" || warning.host !== "");
  return (
    <section class="banner" aria-label="Warnings">
      <div class="banner-line">
        <span aria-hidden="true">⚠</span>
        <span class="banner-text">
          {summary.slice(0, 2).join(" · ")}
          {rest}
        </span>
        {hasDetails ? (
          <LinkButton aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            details {isOpen ? "▴" : "▾"}
          </LinkButton>
        ) : null}
      </div>
      {isOpen ? (
        <ul>
          {details.slice(0, FIRST).map((warning, index) => (
            <li key={index}>
              {warning.host ? <b>{warning.host}: </b> : null}
              {warning.message}
              {warning.hint ? <span class="muted"> {warning.hint}</span> : null}
            </li>
          ))}
          {details.length > FIRST ? (
            <li>{plural(details.length - FIRST, "more warning")}</li>
          ) : null}
        </ul>
      ) : null}
    </section>
  );
}
