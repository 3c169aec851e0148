import { Check, Copy } from "lucide-react";
import { Button } from "./button.tsx";
import { useCopy } from "./use-copy.ts";

/** Copies the text, and says that it did. */
export function CopyButton({ text, label = "Copy" }: { text: string; label?: string }) {
  const { said, copy } = useCopy(text, label);
  return (
    <Button
      look="quiet"
      aria-label={said}
      title={said}
      onClick={copy}
      icon={said === "Copied" ? <Check size={16} aria-hidden /> : <Copy size={16} aria-hidden />}
    />
  );
}
