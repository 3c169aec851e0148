import { createHash } from "node:crypto";
import type { Call } from "../../core/call.ts";
import { isoTime } from "../../lib/timestamps.ts";
import { libraryMalware, type LibraryMalware } from "../../security/index.ts";
import { type ArtifactName, ORIGIN } from "../artifacts/names.ts";
import { libraryOf } from "../artifacts/purls.ts";
import type { EcosystemRules } from "../ecosystems.ts";
import type { CompiledPolicy, NamedRules } from "./compiled.ts";
import { policyFor } from "./nearest.ts";

/** An artifact as its policy is asked for. `name`: as its publisher writes it. */
export interface JudgedArtifact extends ArtifactName {
  ecosystem: EcosystemRules;
  name: string;
}

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

/** What the policy of a group says about an artifact, at the time of a call. */
export interface Gate {
  artifact: JudgedArtifact;
  /** `none`: nothing is judged. `preview`: what is against a version is recorded, and all versions are given. */
  mode: "none" | "preview" | "enforce";
  /** Changes with the policy and with the malware records of the package: a part of the key of rendered documents. */
  key: string;
  /** What is against the version, whatever the mode; undefined when nothing is. */
  verdictOn(facts: VersionFacts): Verdict | undefined;
}

/** The gate of an artifact, by the policy of the nearest group with one, at the time of the call. Checks no rights. */
export async function gateFor({ tx, nowMs }: Pick<Call, "tx" | "nowMs">, artifact: JudgedArtifact): Promise<Gate> {
  const { group, ecosystem, normalized } = artifact;
  const found = await policyFor(tx, group, ecosystem.number);
  if (found === undefined) return { artifact, mode: "none", key: "", verdictOn: () => undefined };
  const { policy, hash } = found;
  const malware = policy.blocksMalware
    ? await libraryMalware(tx, libraryOf({ ecosystem: ecosystem.number, normalized }))
    : undefined;
  const rules = policy.rulesOf(normalized);
  return {
    artifact,
    mode: policy.mode,
    key: malware === undefined || malware.key === "" ? hash : `${hash} ${hashOf(malware.key)}`,
    verdictOn: (facts) => verdictOn(facts, { policy, rules, malware, nowMs }),
  };
}

interface Judged {
  policy: CompiledPolicy;
  rules: NamedRules;
  malware: LibraryMalware | undefined;
  nowMs: number;
}

/** What opens by itself is looked at last: a version that is also blocked for ever is said to be so. */
function verdictOn(
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

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, 22);
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

/** Divides the versions of an artifact, whose order is kept. */
export function shown<T>(gate: Gate, versions: readonly T[], factsOf: (version: T) => VersionFacts): Shown<T> {
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
