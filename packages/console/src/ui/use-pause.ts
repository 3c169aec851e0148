import { useEffect, useState } from "react";

const PAUSE_MS = 400;

/** The value as it was when it last stayed the same for a moment: what is asked of the server while somebody types. */
export function usePaused(text: string): string {
  const [paused, setPaused] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setPaused(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return paused;
}
