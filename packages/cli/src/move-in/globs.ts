// Patterns with stars, as Harbor's rules have them: `*` for anything without a slash, `**` for anything, `?` for one
// character, `{a,b}` for either.

/** Such a pattern. */
export interface Glob {
  /** Whether it matches the whole text. */
  matches(text: string): boolean;
  /** The same as an expression of RE2 for a text without slashes, such as a tag. */
  expression: string;
  /** The same for a path, whose slashes only two stars match. */
  pathExpression: string;
  /** Whether it matches every text without slashes. */
  isAll: boolean;
  /** What each of its alternatives begins with, and whether nothing or anything follows; neither: something special. */
  starts: readonly { text: string; rest: "nothing" | "anything" | "special" }[];
}

type Token = { literal: string } | { star: "one" | "part" | "all" };

const MAX_LENGTH = 512;
const MAX_ALTERNATIVES = 64;

/** Parses a pattern. Undefined for one that has more than the above, such as classes and escapes. */
export function parseGlob(text: string): Glob | undefined {
  if (text === "" || text.length > MAX_LENGTH || /[[\]\\!]/.test(text)) return undefined;
  const alternatives = expand(text);
  if (alternatives === undefined) return undefined;
  const parsed = alternatives.map(tokensOf);
  const joined = (of: (token: Token) => string): string => {
    const expressions = parsed.map((tokens) => tokens.map(of).join(""));
    return expressions.length === 1 ? (expressions[0] ?? "") : `(?:${expressions.join("|")})`;
  };
  return {
    matches: (name) => name.length <= MAX_LENGTH && parsed.some((tokens) => matches(tokens, name)),
    expression: joined(expressionOf),
    pathExpression: joined(pathExpressionOf),
    isAll: parsed.some((tokens) => tokens.length > 0 && tokens.every((token) => isStar(token))),
    starts: parsed.map(startOf),
  };
}

/** Whether it is sure that whatever one matches, of texts without slashes, the other matches, too. */
export function isCovered(one: Glob, other: Glob): boolean {
  if (other.isAll || one.expression === other.expression) return true;
  return one.starts.every(({ text, rest }) =>
    rest === "nothing"
      ? other.matches(text)
      : other.starts.some((start) => start.rest === "anything" && text.startsWith(start.text)),
  );
}

/** Whether it is sure that no text matches both. */
export function isApart(one: Glob, other: Glob): boolean {
  return one.starts.every((mine) => other.starts.every((theirs) => areApart(one, mine, other, theirs)));
}

type Start = Glob["starts"][number];

function areApart(one: Glob, mine: Start, other: Glob, theirs: Start): boolean {
  if (mine.rest === "nothing") return !other.matches(mine.text);
  if (theirs.rest === "nothing") return !one.matches(theirs.text);
  return !mine.text.startsWith(theirs.text) && !theirs.text.startsWith(mine.text);
}

function isStar(token: Token | undefined): boolean {
  return token !== undefined && "star" in token && token.star !== "one";
}

function startOf(tokens: readonly Token[]): Start {
  const end = tokens.findIndex((token) => "star" in token);
  const literals = end < 0 ? tokens : tokens.slice(0, end);
  const text = literals.map((token) => ("literal" in token ? token.literal : "")).join("");
  if (end < 0) return { text, rest: "nothing" };
  return { text, rest: tokens.slice(end).every(isStar) ? "anything" : "special" };
}

/** The alternatives of braces, which do not hold others. Undefined for braces that are wrong or too many. */
function expand(text: string): string[] | undefined {
  const open = text.indexOf("{");
  const close = text.indexOf("}");
  if (open < 0 && close < 0) return [text];
  if (open < 0 || close < open || text.slice(open + 1, close).includes("{")) return undefined;
  const rest = expand(text.slice(close + 1));
  const parts = text.slice(open + 1, close).split(",");
  if (rest === undefined || rest.length * parts.length > MAX_ALTERNATIVES) return undefined;
  return parts.flatMap((part) => rest.map((end) => text.slice(0, open) + part + end));
}

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at] ?? "";
    if (char === "?") tokens.push({ star: "one" });
    else if (char !== "*") tokens.push({ literal: char });
    else if (text[at + 1] === "*") {
      tokens.push({ star: "all" });
      while (text[at + 1] === "*") at += 1;
    } else tokens.push({ star: "part" });
  }
  return tokens;
}

function expressionOf(token: Token): string {
  if ("star" in token) return token.star === "one" ? "." : ".*";
  return /[a-zA-Z0-9_/-]/.test(token.literal) ? token.literal : `\\${token.literal}`;
}

function pathExpressionOf(token: Token): string {
  if (!("star" in token) || token.star === "all") return expressionOf(token);
  return token.star === "one" ? "[^/]" : "[^/]*";
}

/** In time of the pattern's length for each character: after each it is known which tokens the text may be at. */
function matches(tokens: readonly Token[], text: string): boolean {
  let at = withStars(tokens, new Set([0]));
  for (const char of text) {
    const next = new Set<number>();
    for (const index of at) {
      const token = tokens[index];
      if (token === undefined) continue;
      if ("literal" in token) {
        if (token.literal === char) next.add(index + 1);
      } else if (token.star === "one") {
        if (char !== "/") next.add(index + 1);
      } else if (token.star === "all" || char !== "/") next.add(index);
    }
    at = withStars(tokens, next);
  }
  return at.has(tokens.length);
}

/** Stars may stand for nothing. */
function withStars(tokens: readonly Token[], at: ReadonlySet<number>): Set<number> {
  const all = new Set(at);
  for (const index of all) {
    const token = tokens[index];
    if (token !== undefined && "star" in token && token.star !== "one") all.add(index + 1);
  }
  return all;
}
