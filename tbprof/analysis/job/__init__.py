"""The steps of all hosts of a job: aligned, averaged, compared.

Also outliers, stragglers, coupling of workers, and host activity in time that nothing covers.

- Hosts with the event that the user chose lead, then hosts that mark their steps. Inferred steps
  are never aligned with marked ones.
- Numbered steps are matched by number and label, regardless of the clocks. Other steps are matched
  by correlated durations; failing that, by position if the hosts have equally many steps; failing
  that, by overlap in time. Uncertain matches are reported. Hosts with nothing in common are shown
  side by side and not compared.
- The row of a step is the mean over its workers, so its phases still add up; the slowest worker
  is shown beside it.
- Averages are over typical steps. A step more than five deviations above the median is an outlier,
  unless there are many of them: one slow first step would otherwise dominate. The deviation is the
  median absolute deviation, at least a few percent of the median. Fields that existing scripts
  read still cover all complete steps.
- Stragglers are workers whose own time, without collectives, exceeds that of the median worker. In
  a collective, early workers wait for late ones, so steps take equally long on all workers. Only
  workers that exchange data are compared, by paired differences from one fixed worker; comparing
  the extremes of each step would mistake noise for stragglers.
- Time that no phase covers is split further: by what the driving thread did, then by what other
  threads worked on, then by what the driving thread waited for. The shares add up to
  `Phase.OTHER`.
"""
