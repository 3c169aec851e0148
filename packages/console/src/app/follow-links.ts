import type { AnyRouter } from "@tanstack/react-router";

/**
 * Follows plain links to pages of the console without loading the console again. Links to anything else, downloads, and
 * clicks that open a tab or window are the browser's.
 */
export function followLinks(router: AnyRouter): () => void {
  const onClick = (event: MouseEvent): void => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
    if (!(link instanceof HTMLAnchorElement) || link.target !== "" || link.hasAttribute("download")) return;
    const { origin, pathname, search, hash } = new URL(link.href);
    if (origin !== window.location.origin || router.routesByPath[pathname] === undefined) return;
    // The same page with a fragment is the browser's as well.
    if (hash !== "" && pathname === window.location.pathname && search === window.location.search) return;
    event.preventDefault();
    void router.navigate({ href: pathname + search + hash });
  };
  document.addEventListener("click", onClick);
  return () => document.removeEventListener("click", onClick);
}
