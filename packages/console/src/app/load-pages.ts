import type { AnyRouter } from "@tanstack/react-router";

const WAIT_MS = 2_000;

/**
 * Loads the code of all pages a moment after the first one shows: whoever goes on while the server restarts gets the
 * page that says so. One page at a time, each when the browser has nothing else to do, so that somebody who types
 * meanwhile does not wait for all of it. Returns what takes it back.
 */
export function loadPages(router: AnyRouter): () => void {
  const routes = Object.values(router.routesById);
  let isOver = false;
  const next = async (): Promise<void> => {
    const route = routes.shift();
    if (isOver || route === undefined) return;
    try {
      await router.loadRouteChunk(route);
    } catch {
      // It is loaded again when somebody goes there.
    }
    whenIdle(() => void next());
  };
  const timer = setTimeout(() => void next(), WAIT_MS);
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}

/** Safari has no idle callbacks by default: a task of its own lets what waits come first. */
function whenIdle(run: () => void): void {
  if ("requestIdleCallback" in window) window.requestIdleCallback(run);
  else setTimeout(run);
}
