"""The steps of one host: what marks them, when they ran, and what their time was spent on.

`step_finding` runs the stages. Uses groups of events, intervals of devices and host threads.
Comparing the steps of several hosts belongs in `job`.

Sources, in the order of preference: the event that the user chose; `Steps` lines of all TPU
cores; markers of the program; events with step numbers; `Steps` lines of any devices; executions of
the program that TPUs spend most time on; executions of the function that
the host spends most time on; a pattern that repeats on the thread that drives the program. The
last three are inferred, and the pages say so.

- Gaps belong to steps: a step lasts until the next one starts. Otherwise, a program that starves
  between its markers would look healthy.
- Windows follow the host's markers while the devices keep up. If they run behind, windows follow
  the first work of each step on the device. The same holds for compiled programs that the host runs
  itself, as JAX does on CPUs.
- The CPU is a worker only where no device computes. A GPU that only receives copies does not.
- A thread explains idle time of the device that it launches work for; other threads count for
  all devices.
- Truncated steps are shown and excluded from averages: a first or last step with notably less
  work than those between them, or a last one without the gap that follows the others.
- Steps whose work was not recorded are excluded, and the page says so: their launches are in the
  trace, their work is not. A step without launches for the device is one in which it was idle.
- Steps lines are read across the devices of a host: events of one number are one step. A number
  that is missing on one device is a step that was not recorded; it keeps its place, so that the
  step before it does not last for two.
"""
