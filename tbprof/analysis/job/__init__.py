"""The steps of all hosts of a job: aligned, averaged, compared.

Outliers, stragglers, coupling of workers, and what threads did in time that nothing covers.

- Hosts with the event that the user chose lead, then hosts that mark their steps. Inferred steps
  are never aligned with marked ones.
- Numbered steps are matched by number and label, whatever the clocks say. Others are matched
  where their durations rise and fall together, else in order if hosts have equally many, else by
  overlap. Doubts are reported. Hosts with nothing in common are shown side by side and not
  compared.
- The row of a step is the mean over its workers, so its phases still add up; the slowest worker
  is shown beside it.
- Averages are of typical steps. A step more than five deviations above the median is an outlier
  if such steps are few: one slow first step would otherwise be the headline. The deviation is the
  median absolute one, at least a few percent of the median. Fields that scripts know are still of
  all complete steps.
- Stragglers are workers whose own time, without collectives, exceeds the median worker's: in a
  collective the early wait for the late, so all steps take equally long. Only workers that
  exchange data are compared, by paired differences from one fixed worker; extremes of each step
  would call noise late.
- Time that no phase covers is split once more: by what the thread that drives the program did,
  then by what other threads worked on, then by what the driving thread waited for. The shares add
  up to `Phase.OTHER`.
"""
