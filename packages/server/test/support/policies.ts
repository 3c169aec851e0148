import { ECOSYSTEMS, type EcosystemKey } from "../../src/libraries/ecosystems.ts";
import { type Gate, gateFor } from "../../src/libraries/policies/gate.ts";
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
