import { generateKeyPairSync, randomUUID } from "node:crypto";
import { SignJWT } from "jose";
import type { Installation } from "./installation.ts";

/** What `moorage pull-token create` makes. */
export interface PullToken {
  identity: string;
  password: string;
  /** The user name and the password of a log-in. */
  basic: string;
}

/**
 * Makes a pull token for a registry that is called by this host. `endS`: when the password ends, in seconds since 1970;
 * the identity ends in a day.
 */
export async function makePullToken(
  { api, roleUid }: Pick<Installation, "api" | "roleUid">,
  { group, host, endS = Math.floor(Date.now() / 1000) + 86_400 }: { group: string; host: string; endS?: number },
): Promise<PullToken> {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const jwk = { ...publicKey.export({ format: "jwk" }), kid: "k", alg: "ES256" };
  const [issuer, subject] = ["moorage-pull-token", randomUUID()];
  const expirationTime = new Date(Date.now() + 86_400_000).toISOString();
  const { uid: identity } = await api("POST", `/iam/v2/identities/${group}`, {
    name: `robot-${subject.slice(0, 8)}`,
    staticKeys: { issuer, subject, issuerKeys: JSON.stringify({ keys: [jwk] }), expirationTime, audiences: [host] },
  });
  const roleBinding = { identityUid: identity, roleUid: await roleUid("registry.pull") };
  await api("POST", `/iam/v2/roleBindings/${group}`, roleBinding);
  const password = await new SignJWT({})
    .setProtectedHeader({ alg: "ES256", kid: "k" })
    .setIssuer(issuer)
    .setSubject(subject)
    .setAudience(host)
    .setIssuedAt(Math.floor(Date.now() / 1000) - 60)
    .setExpirationTime(endS)
    .sign(privateKey);
  return { identity, password, basic: `${identity}:${password}` };
}
