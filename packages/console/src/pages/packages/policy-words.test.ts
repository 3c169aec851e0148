import assert from "node:assert/strict";
import { test } from "node:test";
import type { ArtifactPolicy } from "../../api/gen/libraries.ts";
import { policyWords } from "./policy-words.ts";

const POLICY: ArtifactPolicy = {
  uid: "org/p",
  ecosystem: "ECOSYSTEM_JAVASCRIPT",
  description: "",
  mode: "POLICY_MODE_PREVIEW",
  blockedPurls: [],
  allowedPurls: [],
  allowedLicenses: [],
  deniedLicenses: [],
  unknownLicense: "UNKNOWN_LICENSE_ALLOW",
};

test("a policy is said by what it blocks; malware is blocked unless that is off", () => {
  assert.deepEqual(policyWords(POLICY), ["malware"]);
  assert.deepEqual(policyWords({ ...POLICY, cooldown: "86400s", blockMalware: false }), [
    "versions younger than 1 day",
  ]);
  assert.deepEqual(
    policyWords({ ...POLICY, cooldown: "604800s", deniedLicenses: ["AGPL-*"], allowedPurls: ["pkg:npm/a"] }),
    ["versions younger than 7 days", "malware", "AGPL-*", "with 1 exception"],
  );
  assert.deepEqual(policyWords({ ...POLICY, cooldown: "0s" }), ["malware"]);
});
