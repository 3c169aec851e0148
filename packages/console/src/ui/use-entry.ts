import { useEffect, useEffectEvent, useRef, useState } from "react";

const PAUSE_MS = 200;

/** A text that is typed, and what sends it before the pause is over. */
export interface Typed {
  text: string;
  setText: (text: string) => void;
  send: () => void;
}

/**
 * A text that holds when the typing pauses. `value` is what holds; fewer letters than `minLetters` count as none.
 * Spaces around the text are left out.
 */
export function useTyped(value: string, minLetters: number, onText: (text: string) => void): Typed {
  const [text, setText] = useState(value);
  // What was sent and has not come back as the value yet, and before it the value itself.
  const sent = useRef([value]);
  useEffect(() => {
    const at = sent.current.indexOf(value);
    // Changed by something else, such as Back.
    if (at < 0) setText(value);
    sent.current = at < 0 ? [value] : sent.current.slice(at);
  }, [value]);
  const send = (): void => {
    const wanted = text.trim().length < minLetters ? "" : text.trim();
    if (wanted === sent.current.at(-1)) return;
    sent.current.push(wanted);
    onText(wanted);
  };
  const sendLater = useEffectEvent(send);
  useEffect(() => {
    const timer = setTimeout(() => sendLater(), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return { text, setText, send };
}
