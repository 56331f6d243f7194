"""Records profiles of running programs over gRPC, into a logdir.

    addresses ─ targets ─┐                       per worker, in a thread of its own
    choices ─── options ─┴ request ─ session ─┬─ probe ─ connect ─┐         ┌─ Profile ─ new_run
                                     queue    ├─ …                ├─ start ─┤
                                              └─ tpu_session      ┘         └─ …

- A common start: all workers connect first, then each gets the same `start_timestamp_ns` and
  sleeps until then. A worker that cannot be reached delays the others by 5 s at most. One that
  had to retry reports how much later it began.
- The response carries the trace (`emit_xspace`). It is written as it arrives, under a temporary
  name that is linked to the final one, never over another file. The folder of the run appears with
  its first file. gRPC's library holds a response three times at its peak and reports no progress,
  so `calls` implements the protocol on `h2`. Older servers write files themselves, which are then
  looked for.
- Sessions end by cancelling the call, which stops servers within milliseconds. Servers remember
  `Terminate`, which would empty a later capture of the same name.
- "Unavailable" has many causes. Name, port and protocol are checked one by one, and each reason
  has its fix (`reasons`). Only transient failures are retried.
"""
