import { fromJson, type JsonValue } from "@bufbuild/protobuf";
import { DurationSchema } from "@bufbuild/protobuf/wkt";
import { PolicyMode, UnknownLicense } from "@moorage/api/messages";
import { createLru } from "@moorage/kernel/lib/lru";
import type { Row } from "@moorage/kernel/store";
import { ecosystemOf } from "../ecosystem/lookup.ts";
import { licenseJudge } from "./licenses.ts";
import { packageName, type PurlRule, purlRule } from "./purl-rules.ts";

/** A policy as gates ask it. */
export interface CompiledPolicy {
  /** What it was made of. */
  row: Row<"artifact_policies">;
  mode: "preview" | "enforce";
  /** In milliseconds; 0 for none. */
  cooldownMs: number;
  blocksMalware: boolean;
  /** Whether a license, empty for none, is against the rules. */
  isAgainst(license: string): boolean;
  /** The package URLs that name this artifact, by its normalized name. */
  rulesOf(normalized: string): NamedRules;
}

/** The package URLs of a policy that name one artifact. */
export interface NamedRules {
  blocked: readonly PurlRule[];
  allowed: readonly PurlRule[];
}

const MAX_NAMES = 2_000;
const MAX_LICENSES = 1_000;
const MAX_LICENSE_CHARS = 300;

/** Prepares a policy of which `policyViolations` found nothing. */
export function compilePolicy(row: Row<"artifact_policies">): CompiledPolicy {
  const ecosystem = ecosystemOf(row.ecosystem);
  const [blocked, allowed] = [rulesIn(row.blocked_purls), rulesIn(row.allowed_purls)];
  const named = createLru<string, NamedRules>(MAX_NAMES);
  const isAgainst = licenseJudge({
    allowed: textsIn(row.allowed_licenses),
    denied: textsIn(row.denied_licenses),
    blocksUnknown: row.unknown_license === UnknownLicense.BLOCK,
  });
  // The thousands of versions of a document have few licenses among them.
  const judged = createLru<string, boolean>(MAX_LICENSES);
  const { seconds, nanos } = fromJson(DurationSchema, JSON.parse(row.cooldown ?? '"0s"') as JsonValue);
  function rulesIn(texts: string): PurlRule[] {
    return textsIn(texts).map((text) => purlRule(ecosystem, text));
  }
  return {
    row,
    mode: row.mode === PolicyMode.ENFORCE ? "enforce" : "preview",
    cooldownMs: Number(seconds) * 1000 + Math.ceil(nanos / 1_000_000),
    blocksMalware: row.block_malware === 1,
    isAgainst(license) {
      const known = judged.get(license);
      if (known !== undefined) return known;
      const found = isAgainst(license);
      if (license.length <= MAX_LICENSE_CHARS) judged.set(license, found);
      return found;
    },
    rulesOf(normalized) {
      const known = named.get(normalized);
      if (known !== undefined) return known;
      const name = packageName(ecosystem, normalized);
      const found = {
        blocked: blocked.filter((rule) => rule.matchesName(name)),
        allowed: allowed.filter((rule) => rule.matchesName(name)),
      };
      named.set(normalized, found);
      return found;
    },
  };
}

function textsIn(json: string): string[] {
  return JSON.parse(json) as string[];
}
