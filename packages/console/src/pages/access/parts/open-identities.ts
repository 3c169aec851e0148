/** Whom a binding of a built-in identity lets in, in a word; undefined for those of people and machines. */
export function openTo(identity: string): string | undefined {
  if (identity === "everybody") return "Public";
  return identity === "signed-in" ? "All signed in" : undefined;
}

/** The same in a sentence. */
export const LETS_IN = {
  everybody: "everybody can pull from here, also without a log-in",
  "signed-in": "whoever is signed in to this installation can pull from here",
} as const;
