import { useSyncExternalStore } from "react";

/** As in the style sheets. */
const phone = window.matchMedia("(max-width: 720px)");

function watch(changed: () => void): () => void {
  phone.addEventListener("change", changed);
  return () => phone.removeEventListener("change", changed);
}

/** Whether the window is as narrow as a phone's. */
export function useIsPhone(): boolean {
  return useSyncExternalStore(watch, () => phone.matches);
}
