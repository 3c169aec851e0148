import { BlockReason, PolicyMode } from "@moorage/api";
import { newUid, organizationOf } from "../../../kernel/src/lib/uid.ts";
import { ECOSYSTEMS, type EcosystemKey } from "../../../libraries/src/libraries/ecosystems.ts";
import { type Gate, gateFor } from "../../../libraries/src/libraries/policies/gate.ts";
import type { Json, Platform } from "./platform.ts";

/** A new policy of the group. */
export function newPolicy(platform: Platform, group: string, fields: object): Promise<Json> {
  return platform.ok("POST", `/libraries/v2/artifactPolicies/${group}`, {
    ecosystem: "ECOSYSTEM_JAVASCRIPT",
    mode: "POLICY_MODE_ENFORCE",
    ...fields,
  });
}

/** The gate of a package in the group, now. */
export function gateOf(platform: Platform, group: string, name: string, key: EcosystemKey = "npm"): Promise<Gate> {
  return gateFor(
    { tx: platform.reader, nowMs: platform.clock.nowMs() },
    { group, ecosystem: ECOSYSTEMS[key], normalized: name, name },
  );
}

/** A row of the list of blocks, as if somebody had asked for the version. Answers its uid. */
export async function addBlock(
  { transact, owner: identity, clock }: Platform,
  group: string,
  { name, count }: { name: string; count: number },
): Promise<string> {
  const uid = newUid(group);
  const row = {
    uid,
    parent: group,
    organization: organizationOf(group),
    ecosystem: ECOSYSTEMS.npm.number,
    name,
    version: "1.0.0",
    identity,
    reason: BlockReason.PURL,
    detail: "",
    mode: PolicyMode.ENFORCE,
    count,
    first_time: clock.nowMs(),
    last_time: clock.nowMs(),
    open_time: null,
  };
  await transact((tx) => tx.insertInto("artifact_blocks").values(row).execute());
  return uid;
}

/** Removes it. */
export async function removeBlock({ transact }: Platform, uid: string): Promise<void> {
  await transact((tx) => tx.deleteFrom("artifact_blocks").where("uid", "=", uid).execute());
}
