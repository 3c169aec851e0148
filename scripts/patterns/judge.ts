import { availableParallelism } from "node:os";
import { check, type Diagnostics, type Parameters } from "recheck";

/** A pattern to judge. */
export interface Judged {
  source: string;
  flags: string;
}

/** How long a pattern takes: in proportion to the text, longer (exponential: a `degree` of Infinity), or not known. */
export type Verdict =
  | { kind: "linear" }
  | { kind: "slow"; degree: number; summary: string; attack: string }
  | { kind: "unknown"; why: string };

const TIMEOUT_MS = 60_000;
// What it finds does not depend on how busy the machine is: its search is limited by steps alone.
const PARAMETERS: Parameters = {
  timeout: TIMEOUT_MS,
  attackTimeout: null,
  attackLimit: 50_000_000,
  incubationTimeout: null,
  seedingTimeout: null,
};

/**
 * Judges patterns, as many at a time as there are processors. The verdicts are in the order of the patterns. Recheck's
 * program for this machine does it, or where there is none the same in JavaScript, several times slower.
 */
export async function judge(patterns: readonly Judged[]): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  const waiting = patterns.entries();
  const work = async (): Promise<void> => {
    for (const [at, { source, flags }] of waiting) verdicts[at] = verdictOf(await check(source, flags, PARAMETERS));
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  return verdicts;
}

function verdictOf(found: Diagnostics): Verdict {
  if (found.status === "safe") return { kind: "linear" };
  if (found.status === "unknown") return { kind: "unknown", why: JSON.stringify(found.error) };
  const { complexity, attack } = found;
  const degree = complexity.type === "polynomial" ? complexity.degree : Infinity;
  return { kind: "slow", degree, summary: complexity.summary, attack: attack.pattern };
}
