// `--debug`: requests and responses on standard error, without what is secret in them.
import { printableLines } from "../printable.ts";

const MAX_BODY_CHARS = 4096;
const SECRET = /token|password|secret|authorization|assertion|credential|verifier|private|^code$|_code$|Code$/i;
const PAGING = /^(?:next_?)?page_?token$|^token_type|^scope/i;

let debugging = false;

/** Shows requests from now on, or no longer. */
export function showRequests(shown: boolean): void {
  debugging = shown;
}

/** Whether `--debug` was given. */
export function showsRequests(): boolean {
  return debugging;
}

/** Writes a line to standard error, if `--debug` was given. */
export function debug(text: string): void {
  if (debugging) process.stderr.write(`debug: ${printableLines(text)}\n`);
}

/** A URL whose parameters hide what is secret. */
export function shownUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null) return text;
  for (const [name] of url.searchParams) if (isSecret(name)) url.searchParams.set(name, "***");
  if (url.password !== "") url.password = "***";
  return url.href;
}

/** A body for people: JSON and forms without what is secret in them, at most 4 KiB. */
export function shownBody(text: string, contentType: string): string {
  const shown = contentType.includes("x-www-form-urlencoded")
    ? new URLSearchParams(
        [...new URLSearchParams(text)].map(([name, value]) => [name, isSecret(name) ? "***" : value]),
      ).toString()
    : hidden(text);
  const safe = withoutTokens(shown).replaceAll(/\p{Cc}/gu, " ");
  return safe.length > MAX_BODY_CHARS ? `${safe.slice(0, MAX_BODY_CHARS)}… (${safe.length} characters)` : safe;
}

/** The text without what begins as a JWT does, wherever it stands. */
function withoutTokens(text: string): string {
  return text.replaceAll(/[\w.-]+/g, (word) => {
    const start = word.search(/\beyJ[\w-]/);
    return start < 0 || word.slice(start).split(".", 3).length < 3 ? word : `${word.slice(0, start)}***`;
  });
}

function hidden(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), (name, value: unknown) =>
      typeof value === "string" ? (isSecret(name) ? "***" : withoutFragment(value)) : value,
    );
  } catch {
    return text;
  }
}

/** A link whose secret stands behind the `#`, where browsers send it to no server. */
function withoutFragment(text: string): string {
  return /^https?:\/\/[^#]*#/.test(text) ? `${text.slice(0, text.indexOf("#") + 1)}***` : text;
}

function isSecret(name: string): boolean {
  return SECRET.test(name) && !PAGING.test(name);
}
