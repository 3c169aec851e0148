import type { AnyRouter } from "@tanstack/react-router";

const WAIT_MS = 2_000;

/**
 * Loads the code of all pages a moment after the first one shows: whoever goes on while the server restarts gets the
 * page that says so. Returns what takes it back.
 */
export function loadPages(router: AnyRouter): () => void {
  const timer = setTimeout(() => {
    for (const route of Object.values(router.routesById))
      router.loadRouteChunk(route)?.catch(() => {
        // It is loaded again when somebody goes there.
      });
  }, WAIT_MS);
  return () => clearTimeout(timer);
}
