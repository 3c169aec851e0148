import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { Button } from "./button.tsx";

const SHOWN_MS = 2_000;

/** Copies the text, and says that it did. */
export function CopyButton({ text, label = "Copy" }: { text: string; label?: string }) {
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
  const said = { ready: label, copied: "Copied", failed: "Select the text and copy it" }[state];
  return (
    <Button
      look="quiet"
      aria-label={said}
      title={said}
      onClick={copy}
      icon={state === "copied" ? <Check size={16} aria-hidden /> : <Copy size={16} aria-hidden />}
    />
  );
}
