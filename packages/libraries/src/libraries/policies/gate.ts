import { createHash } from "node:crypto";
import type { Call } from "@moorage/kernel/core/call";
import { libraryMalware } from "@moorage/security/security";
import type { ArtifactName } from "../artifacts/names.ts";
import { libraryOf } from "../artifacts/purls.ts";
import type { Ecosystem } from "../ecosystem/ecosystem.ts";
import { type Judge, type JudgeData, verdictOn } from "./judge.ts";
import { policyFor } from "./nearest.ts";

/** An artifact as its policy is asked for. `name`: as its publisher writes it. */
interface JudgedArtifact extends ArtifactName {
  ecosystem: Ecosystem;
  name: string;
}

/** What the policy of a group says about an artifact, at the time of a call. */
export interface Gate extends Judge {
  artifact: JudgedArtifact;
  /** Changes with the policy and with the malware records of the package: a part of the key of rendered documents. */
  key: string;
  /** The same as plain data, for a task. */
  data: JudgeData;
}

/** The gate of an artifact, by the policy of the nearest group with one, at the time of the call. Checks no rights. */
export async function gateFor({ tx, nowMs }: Pick<Call, "tx" | "nowMs">, artifact: JudgedArtifact): Promise<Gate> {
  const { group, ecosystem, normalized } = artifact;
  const found = await policyFor(tx, group, ecosystem.number);
  if (found === undefined) return { artifact, mode: "none", key: "", data: undefined, verdictOn: () => undefined };
  const { policy, hash } = found;
  const malware = policy.blocksMalware
    ? await libraryMalware(tx, libraryOf({ ecosystem: ecosystem.number, normalized }))
    : undefined;
  const rules = policy.rulesOf(normalized);
  return {
    artifact,
    mode: policy.mode,
    key: malware === undefined || malware.key === "" ? hash : `${hash} ${hashOf(malware.key)}`,
    data: { policy: policy.row, normalized, malware: malware?.data, nowMs },
    verdictOn: (facts) => verdictOn(facts, { policy, rules, malware, nowMs }),
  };
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, 22);
}
