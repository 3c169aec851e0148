import type { ArtifactPolicy } from "../../api/gen/libraries.ts";
import { counted } from "../../lib/bytes.ts";
import { durationWords } from "../../lib/durations.ts";

/** What a policy blocks, in a few words each. */
export function policyWords(policy: ArtifactPolicy): string[] {
  const { cooldown, blockMalware, blockedPurls, allowedPurls, allowedLicenses, deniedLicenses, unknownLicense } =
    policy;
  const hasCooldown = cooldown !== undefined && Number.parseFloat(cooldown) > 0;
  return [
    hasCooldown ? `versions younger than ${durationWords(cooldown).replace(/^(?=[a-z])/, "1 ")}` : "",
    blockMalware === false ? "" : "malware",
    blockedPurls.length === 0 ? "" : counted(blockedPurls.length, "named package"),
    allowedLicenses.length === 0 ? "" : `all licenses but ${allowedLicenses.join(", ")}`,
    deniedLicenses.length === 0 ? "" : deniedLicenses.join(", "),
    unknownLicense === "UNKNOWN_LICENSE_BLOCK" ? "unknown licenses" : "",
    allowedPurls.length === 0 ? "" : `with ${counted(allowedPurls.length, "exception")}`,
  ].filter((words) => words !== "");
}
