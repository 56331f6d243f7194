/** Filters the events that are drawn, by name, category and duration. */
import { useId, useState } from "preact/hooks";
import { describeProblem } from "../../../api/errors";
import { SmallButton } from "../../../widgets/controls/buttons";
import { Popover } from "../../../widgets/overlays/popover";
import type { TimelineModel } from "../model/model";
import { formatPs, parseTime } from "../model/time";
import { type EventFilter, NO_FILTER } from "../protocol/questions";

export function FilterMenu({ model }: { model: TimelineModel }) {
  const filter = model.filter.value;
  const said = describeFilter(filter);
  return (
    <>
      <Popover
        label={
          <>
            Filter <span aria-hidden="true">▾</span>
          </>
        }
        title={said === "" ? "Filter events" : `Filter events: ${said}`}
        panelLabel="Which events are drawn"
        buttonClass="button small"
        width={340}
      >
        {() => <FilterForm model={model} />}
      </Popover>
      {said === "" ? null : (
        <button
          type="button"
          class="trace-chip"
          title={
            model.filterError.value === null
              ? `Only events with ${said} are drawn: show all again`
              : `The server refuses ${said}: show all again`
          }
          onClick={() => {
            model.filter.value = NO_FILTER;
          }}
        >
          <span class="one-line">{said}</span> <span aria-hidden="true">✕</span>
        </button>
      )}
    </>
  );
}

function FilterForm({ model }: { model: TimelineModel }) {
  const id = useId();
  const filter = model.filter.value;
  const [duration, setDuration] = useState(filter.minPs > 0 ? formatPs(filter.minPs) : "");
  const minPs = parseTime(duration);
  const refusal = model.filterError.value;
  const nameError = filter.isRegex && refusal !== null ? describeProblem(refusal).message : "";
  const categories = [
    ...new Set(
      model.hosts.value.flatMap(({ events }) => events.categories.map((category) => category.name)),
    ),
  ];
  const patch = (change: Partial<EventFilter>) => {
    model.filter.value = { ...model.filter.peek(), ...change };
  };
  return (
    <div class="trace-filter">
      <label for={`${id}-name`}>Name</label>
      <div class="trace-field">
        <input
          id={`${id}-name`}
          type="text"
          autocomplete="off"
          spellcheck={false}
          value={filter.name}
          placeholder="Part of the name"
          aria-invalid={nameError !== ""}
          aria-describedby={nameError === "" ? undefined : `${id}-error`}
          onInput={(event) => patch({ name: event.currentTarget.value })}
        />
        <PatternToggles
          isRegex={filter.isRegex}
          isCase={filter.isCase}
          setRegex={(isRegex) => patch({ isRegex })}
          setCase={(isCase) => patch({ isCase })}
        />
      </div>
      {nameError === "" ? null : (
        <p class="trace-error" id={`${id}-error`} role="alert">
          {nameError}
        </p>
      )}
      <label for={`${id}-time`}>At least this long</label>
      <input
        id={`${id}-time`}
        type="text"
        autocomplete="off"
        value={duration}
        placeholder="5 µs"
        aria-invalid={Number.isNaN(minPs)}
        onInput={(event) => {
          setDuration(event.currentTarget.value);
          const ps = parseTime(event.currentTarget.value);
          if (!Number.isNaN(ps)) patch({ minPs: ps });
        }}
      />
      {categories.length < 2 ? null : (
        <fieldset class="chooser">
          <legend>Categories</legend>
          {categories.map((category) => (
            <label key={category}>
              <input
                type="checkbox"
                checked={filter.categories.includes(category)}
                onChange={(event) =>
                  patch({
                    categories: event.currentTarget.checked
                      ? [...filter.categories, category]
                      : filter.categories.filter((other) => other !== category),
                  })
                }
              />
              {category}
            </label>
          ))}
          <p class="muted">None chosen: all are drawn.</p>
        </fieldset>
      )}
      <SmallButton
        onClick={() => {
          setDuration("");
          model.filter.value = NO_FILTER;
        }}
      >
        Show all events
      </SmallButton>
    </div>
  );
}

interface PatternTogglesProps {
  readonly isRegex: boolean;
  readonly isCase: boolean;
  readonly setRegex: (isOn: boolean) => void;
  readonly setCase: (isOn: boolean) => void;
}

export function PatternToggles({ isRegex, isCase, setRegex, setCase }: PatternTogglesProps) {
  return (
    <span class="trace-toggles">
      <button
        type="button"
        aria-pressed={isCase}
        aria-label="Match case"
        title="Match case"
        onClick={() => setCase(!isCase)}
      >
        Aa
      </button>
      <button
        type="button"
        aria-pressed={isRegex}
        aria-label="Regular expression"
        title="Regular expression"
        onClick={() => setRegex(!isRegex)}
      >
        .*
      </button>
    </span>
  );
}

/** "“mat”, Kernel or Memcpy, 5 µs or more"; "" without a filter. */
export function describeFilter({ name, isRegex, categories, minPs }: EventFilter): string {
  const shown = name.slice(0, 60);
  return [
    name === "" ? "" : isRegex ? `/${shown}/` : `“${shown}”`,
    categories.length > 2 ? `${categories.length} categories` : categories.join(" or "),
    minPs > 0 ? `≥ ${formatPs(minPs)}` : "",
  ]
    .filter(Boolean)
    .join(", ");
}
