/** Runs in pages: what they have begun and not ended, so that a test can wait for the end of it. */

declare global {
  interface Window {
    /** Resolves once nothing is on its way: no request, no frame, no timer of a second or less. */
    whenIdle?: () => Promise<void>;
  }
}

/** For `addInitScript`: it cannot refer to anything around it. */
export function watchWork(): void {
  /** Polls for what is new are longer. */
  const longestMs = 1000;
  const timers = new Set<number>();
  const frames = new Set<number>();
  let requests = 0;
  const { setTimeout: setTimer, clearTimeout: clearTimer } = window;
  const { requestAnimationFrame: requestFrame, cancelAnimationFrame: cancelFrame } = window;
  const setWatchedTimer = (act: TimerHandler, ms = 0, ...rest: unknown[]) => {
    if (typeof act !== "function" || ms > longestMs) return setTimer(act, ms, ...rest);
    const timer = setTimer(() => {
      timers.delete(timer);
      act(...rest);
    }, ms);
    timers.add(timer);
    return timer;
  };
  const countRequest = <Answer>(answer: Promise<Answer>) => {
    requests++;
    const end = () => {
      requests--;
    };
    answer.then(end, end);
    return answer;
  };
  const { fetch } = window;
  const body = Response.prototype;
  const { json, text, arrayBuffer } = body;
  Object.assign(window, {
    setTimeout: setWatchedTimer,
    clearTimeout: (timer?: number) => {
      if (timer !== undefined) timers.delete(timer);
      clearTimer(timer);
    },
    requestAnimationFrame: (act: FrameRequestCallback) => {
      const frame = requestFrame((now) => {
        frames.delete(frame);
        act(now);
      });
      frames.add(frame);
      return frame;
    },
    cancelAnimationFrame: (frame: number) => {
      frames.delete(frame);
      cancelFrame(frame);
    },
    fetch: (...request: Parameters<typeof fetch>) => countRequest(fetch(...request)),
  });
  body.json = function () {
    return countRequest(json.call(this));
  };
  body.text = function () {
    return countRequest(text.call(this));
  };
  body.arrayBuffer = function () {
    return countRequest(arrayBuffer.call(this));
  };
  // Sizes are observed at the end of a frame, and may begin something: it is looked at twice.
  window.whenIdle = () =>
    new Promise((done) => {
      let calm = 0;
      const look = () => {
        const isLoading = document.querySelector('.skeleton, main [aria-busy="true"]') !== null;
        const isIdle = !isLoading && timers.size + frames.size + requests === 0;
        calm = isIdle ? calm + 1 : 0;
        if (calm > 2) done();
        else requestFrame(() => setTimer(look, 0));
      };
      look();
    });
}
