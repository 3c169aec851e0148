import { once } from "node:events";
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { Diagnostics, Parameters } from "recheck";

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

/** Judges patterns, two or more at a time, in JavaScript alone. The verdicts are in the order of the patterns. */
export async function judge(patterns: readonly Judged[]): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    const worker = new Worker(new URL("./judge-worker.ts", import.meta.url), {
      env: { ...process.env, RECHECK_BACKEND: "pure", RECHECK_SYNC_BACKEND: "pure" },
    });
    try {
      for (let at = next++; at < patterns.length; at = next++) {
        const { source = "", flags = "" } = patterns[at] ?? {};
        worker.postMessage({ source, flags, parameters: PARAMETERS });
        const [diagnostics] = (await once(worker, "message")) as [Diagnostics];
        verdicts[at] = verdictOf(diagnostics);
      }
    } finally {
      await worker.terminate();
    }
  };
  await Promise.all(Array.from({ length: Math.min(Math.max(2, availableParallelism()), patterns.length) }, work));
  return verdicts;
}

function verdictOf(found: Diagnostics): Verdict {
  if (found.status === "safe") return { kind: "linear" };
  if (found.status === "unknown") return { kind: "unknown", why: JSON.stringify(found.error) };
  const { complexity, attack } = found;
  const degree = complexity.type === "polynomial" ? complexity.degree : Infinity;
  return { kind: "slow", degree, summary: complexity.summary, attack: attack.pattern };
}
