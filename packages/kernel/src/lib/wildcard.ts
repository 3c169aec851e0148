/** A text in which `*` stands for any characters, also for none. */
export interface Wildcard {
  /** How often `*` stands in it. */
  stars: number;
  /** Whether it is the whole text. Takes the time of a few searches, whatever the pattern: there is no backtracking. */
  matches(text: string): boolean;
}

/** Reads a pattern. Upper and lower case differ. */
export function wildcard(pattern: string): Wildcard {
  const [first = "", ...rest] = pattern.split("*");
  const stars = rest.length;
  const last = rest.pop();
  if (last === undefined) return { stars, matches: (text) => text === pattern };
  return {
    stars,
    matches(text) {
      if (!text.startsWith(first)) return false;
      let at = first.length;
      for (const part of rest) {
        const found = text.indexOf(part, at);
        if (found < 0) return false;
        at = found + part.length;
      }
      return text.length - last.length >= at && text.endsWith(last);
    },
  };
}
