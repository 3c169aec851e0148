/** One challenge of a server: the scheme in lower case, and its parameters by lower-case name. */
export interface Challenge {
  scheme: string;
  parameters: Record<string, string>;
}

// Matches a scheme, which has no value, or a parameter, which has one; both are separated by commas.
const PIECE = /[\s,]*([A-Za-z0-9!#$%&'*+.^_`|~-]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+)))?/y;
const MAX_LENGTH = 8_192;

/** Parses WWW-Authenticate headers, up to the first invalid part. Source: RFC 9110 §11.6.1. */
export function readChallenges(header: string | string[] | undefined): Challenge[] {
  const found: Challenge[] = [];
  const text = (Array.isArray(header) ? header.join(", ") : (header ?? "")).slice(0, MAX_LENGTH);
  PIECE.lastIndex = 0;
  for (let match = PIECE.exec(text); match !== null; match = PIECE.exec(text)) {
    const [, name = "", quoted, plain] = match;
    const value = quoted?.replace(/\\(.)/g, "$1") ?? plain;
    const current = found.at(-1);
    if (value === undefined)
      found.push({ scheme: name.toLowerCase(), parameters: Object.create(null) as Record<string, string> });
    else if (current !== undefined) current.parameters[name.toLowerCase()] = value;
  }
  return found;
}
