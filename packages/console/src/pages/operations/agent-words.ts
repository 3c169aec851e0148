import type { Session } from "../../api/gen/iam.ts";

const BROWSERS: readonly (readonly [mark: RegExp, name: string])[] = [
  [/Edg\//, "Edge"],
  [/OPR\//, "Opera"],
  [/Firefox\//, "Firefox"],
  [/Chrom(?:e|ium)\//, "Chrome"],
  [/Safari\//, "Safari"],
];
const SYSTEMS: readonly (readonly [mark: RegExp, name: string])[] = [
  [/Android/, "Android"],
  [/iPhone|iPad/, "iOS"],
  [/Windows/, "Windows"],
  [/Mac OS X|Macintosh/, "macOS"],
  [/Linux|X11/, "Linux"],
];
const MAX_LENGTH = 60;

/** What is signed in, in a few words: `Firefox on Linux`, `a program`, or what it calls itself. */
export function agentWords({ kind, userAgent }: Pick<Session, "kind" | "userAgent">): string {
  if (kind === "SESSION_KIND_PROGRAM") return "a program";
  if (userAgent === "") return "a browser";
  const browser = BROWSERS.find(([mark]) => mark.test(userAgent))?.[1];
  if (browser === undefined) return userAgent.slice(0, MAX_LENGTH);
  const system = SYSTEMS.find(([mark]) => mark.test(userAgent))?.[1];
  return system === undefined ? browser : `${browser} on ${system}`;
}
