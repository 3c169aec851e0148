import { useSyncExternalStore } from "react";

let title = "";
const listeners = new Set<() => void>();

/** Names the page, in the browser's tab and for whoever uses `usePageTitle`. */
export function showTitle(name: string): void {
  title = name;
  document.title = name === "" ? "Moorage" : `${name} · Moorage`;
  for (const listener of listeners) listener();
}

/** The name of the page that is shown; empty before one has named itself. */
export function usePageTitle(): string {
  return useSyncExternalStore(subscribe, () => title);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
