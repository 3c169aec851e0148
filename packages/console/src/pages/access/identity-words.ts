import type { Identity } from "../../api/gen/iam.ts";

/** How the identity is assumed, in a few words. */
export function assumedBy({ claimMatch, staticKeys, awsIdentity, identityProvider, email }: Identity): string {
  if (staticKeys?.issuer === "moorage-pull-token") return "pull token";
  if (staticKeys?.issuer === "moorage-push-token") return "push token";
  if (staticKeys) return `keys of ${staticKeys.issuer}`;
  if (identityProvider !== "") return "a person who signs in";
  if (claimMatch) return `tokens of ${claimMatch.issuer ?? claimMatch.issuerPattern ?? "an issuer"}`;
  if (awsIdentity) return `AWS account ${awsIdentity.awsAccount}`;
  return email === "" ? "tokens of this server only" : "a person";
}

/**
 * When it last got a token; undefined for never. Until the first one the API has the time it was made; a person is made
 * by the first sign-in.
 */
export function seenTime({ lastSeenTime, createTime, identityProvider }: Identity): string | undefined {
  return lastSeenTime === createTime && identityProvider === "" ? undefined : lastSeenTime;
}
