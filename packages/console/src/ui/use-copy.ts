import { useEffect, useState } from "react";

const SHOWN_MS = 2_000;

/** What a button that copies is called now, `label` at rest, and what it does. */
export function useCopy(text: string, label: string): { said: string; copy: () => void } {
  const [state, setState] = useState<"ready" | "copied" | "failed">("ready");
  useEffect(() => {
    if (state === "ready") return;
    const timer = setTimeout(() => setState("ready"), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [state]);
  const copy = (): void => {
    // Browsers have no clipboard on pages that came without TLS from another machine.
    const done = navigator.clipboard?.writeText(text) ?? Promise.reject(new Error("no clipboard"));
    done.then(
      () => setState("copied"),
      () => setState("failed"),
    );
  };
  return { said: { ready: label, copied: "Copied", failed: "Select the text and copy it" }[state], copy };
}
