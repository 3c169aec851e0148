import { useNavigate } from "@tanstack/react-router";
import { useEffect, useEffectEvent } from "react";

const GO: Readonly<Record<string, string>> = { h: "/", i: "/images", p: "/packages", s: "/vulnerabilities" };
const SECOND_MS = 1_000;

export interface Keys {
  onSearch: () => void;
  onFold: () => void;
}

/** The keys of every page: Ctrl K searches, Ctrl B folds the navigation, and g with a letter goes to a place. */
export function useKeys({ onSearch, onFold }: Keys): void {
  const navigate = useNavigate();
  const pressed = useEffectEvent((event: KeyboardEvent, isAfterG: boolean): void => {
    const key = event.key.toLowerCase();
    const act = event.ctrlKey || event.metaKey ? { k: onSearch, b: onFold }[key] : undefined;
    if (act !== undefined && !event.altKey && !event.shiftKey) {
      event.preventDefault();
      act();
    } else if (isAfterG && GO[key] !== undefined) void navigate({ to: GO[key] });
  });
  useEffect(() => {
    let gMs = Number.NEGATIVE_INFINITY;
    const onKey = (event: KeyboardEvent): void => {
      const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey && !isTyping(event.target);
      pressed(event, isPlain && event.timeStamp - gMs < SECOND_MS);
      gMs = isPlain && event.key === "g" ? event.timeStamp : Number.NEGATIVE_INFINITY;
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof Element && target.closest("input, textarea, select, [contenteditable], [role=dialog]") !== null
  );
}
