import { isoTime } from "@moorage/kernel/lib/timestamps";
import type { MalwareData } from "@moorage/security/security";
import type { Row } from "@moorage/kernel/store";
import { ORIGIN } from "../ecosystem/origin.ts";
import { type CompiledPolicy, compilePolicy, type NamedRules } from "./compile.ts";

/** What is judged: one version of an artifact. */
export interface VersionFacts {
  version: string;
  /** Where it comes from, of ORIGIN. */
  origin: number;
  /** When it was published, in milliseconds since 1970, or first seen here where its upstream does not say. */
  publishMs: number | undefined;
  /**
   * As its metadata has it; undefined or empty where that has none. Null: nobody has looked, so that rules about
   * licenses say nothing.
   */
  license: string | undefined | null;
}

/** What is against a version. */
export interface Verdict {
  reason: "cooldown" | "malware" | "purl" | "license";
  /** The rule, the id of the record, or the license, for people. */
  detail: string;
  /** When it opens by itself, in milliseconds since 1970; undefined: never. */
  opensMs: number | undefined;
}

/** A version and what is against it. */
export interface BlockedVersion {
  version: string;
  verdict: Verdict;
}

/** What is against the versions of one artifact. */
export interface Judge {
  /** `none`: nothing is judged. `preview`: what is against a version is recorded, and all versions are given. */
  mode: "none" | "preview" | "enforce";
  /** What is against the version, whatever the mode; undefined when nothing is. */
  verdictOn(facts: VersionFacts): Verdict | undefined;
}

/** A judge as plain data, for the tasks that judge the versions of large documents. */
export type JudgeData =
  | undefined
  | { policy: Row<"artifact_policies">; normalized: string; malware: MalwareData | undefined; nowMs: number };

/** The judge that the data are of. */
export async function judgeOf(data: JudgeData): Promise<Judge> {
  if (data === undefined) return { mode: "none", verdictOn: () => undefined };
  const { normalized, nowMs, malware } = data;
  const policy = compilePolicy(data.policy);
  // Few packages have records of malware, and what compares versions with them loads much else.
  const records = malware && (await import("@moorage/security/security")).malwareOf(malware);
  const judged = { policy, rules: policy.rulesOf(normalized), malware: records, nowMs };
  return { mode: policy.mode, verdictOn: (facts) => verdictOn(facts, judged) };
}

/** What a version is judged by, beside itself. */
interface Judged {
  policy: CompiledPolicy;
  rules: NamedRules;
  malware: { recordOf(version: string): string | undefined } | undefined;
  nowMs: number;
}

/** What opens by itself is looked at last: a version that is also blocked for ever is said to be so. */
export function verdictOn(
  { version, origin, publishMs, license }: VersionFacts,
  { policy, rules, malware, nowMs }: Judged,
): Verdict | undefined {
  const { cooldownMs } = policy;
  const blocked = rules.blocked.find((rule) => rule.matchesVersion(version));
  if (blocked !== undefined) return { reason: "purl", detail: blocked.text, opensMs: undefined };
  // What a group publishes is its own concern.
  if (origin === ORIGIN.published) return undefined;
  const allowed = rules.allowed.filter((rule) => rule.matchesVersion(version));
  const record = malware?.recordOf(version);
  if (record !== undefined && !allowed.some(({ isExact }) => isExact))
    return { reason: "malware", detail: record, opensMs: undefined };
  if (allowed.length > 0) return undefined;
  if (license !== null && policy.isAgainst(license ?? ""))
    return { reason: "license", detail: lineOf(license ?? ""), opensMs: undefined };
  if (cooldownMs === 0) return undefined;
  if (publishMs === undefined) return { reason: "cooldown", detail: "", opensMs: undefined };
  const opensMs = publishMs + cooldownMs;
  return opensMs <= nowMs ? undefined : { reason: "cooldown", detail: `published at ${isoTime(publishMs)}`, opensMs };
}

const MAX_DETAIL_CHARS = 100;

/** A text of an upstream as part of a message, which is one line. */
function lineOf(text: string): string {
  return text.slice(0, MAX_DETAIL_CHARS).replaceAll(/\s+/g, " ").trim();
}

/** The versions of an artifact by what its gate says. */
export interface Shown<T> {
  /** Those that are given to clients: all of them unless the mode is `enforce`. */
  visible: T[];
  /** Those that something is against, in `preview` too, in their order. */
  hidden: BlockedVersion[];
  /** When the next of the hidden ones opens: a document made of the visible ones is good until then. */
  nextMs: number | undefined;
}

/** That every version of an artifact is blocked: the last one, and when the first of them opens. */
export interface WholeBlock {
  last: BlockedVersion;
  opensMs: number | undefined;
}

/** Undefined when some version is visible, or when there is none at all. */
export function wholeBlockOf({ visible, hidden, nextMs }: Shown<unknown>): WholeBlock | undefined {
  const last = hidden.at(-1);
  return visible.length > 0 || last === undefined ? undefined : { last, opensMs: nextMs };
}

/** Divides the versions of an artifact, whose order is kept. */
export function shown<T>(gate: Judge, versions: readonly T[], factsOf: (version: T) => VersionFacts): Shown<T> {
  if (gate.mode === "none") return { visible: [...versions], hidden: [], nextMs: undefined };
  const visible: T[] = [];
  const hidden: BlockedVersion[] = [];
  let nextMs: number | undefined;
  for (const each of versions) {
    const facts = factsOf(each);
    const verdict = gate.verdictOn(facts);
    if (verdict === undefined || gate.mode === "preview") visible.push(each);
    if (verdict === undefined) continue;
    hidden.push({ version: facts.version, verdict });
    if (verdict.opensMs !== undefined) nextMs = Math.min(nextMs ?? verdict.opensMs, verdict.opensMs);
  }
  return { visible, hidden, nextMs };
}
