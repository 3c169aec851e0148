import { call } from "../../api/call.ts";
import { createIdentity, createRoleBinding, deleteIdentity, listRoles } from "../../api/gen/iam.ts";
import { makePassword } from "./password-key.ts";

/** A kind of password. The server knows it by the issuer. */
export interface PasswordKind {
  noun: string;
  issuer: string;
  /** The built-in role that it has on its group. */
  role: string;
  maxDays: number;
}

/** Pulls. */
export const PULL_TOKEN: PasswordKind = {
  noun: "pull token",
  issuer: "moorage-pull-token",
  role: "registry.pull",
  maxDays: 366,
};
/** Pushes too, for a shorter time. */
export const PUSH_TOKEN: PasswordKind = {
  noun: "push token",
  issuer: "moorage-push-token",
  role: "registry.push",
  maxDays: 90,
};

export interface Wanted {
  kind: PasswordKind;
  name: string;
  group: string;
  days: number;
  /** The host of the registry, which alone accepts it. */
  registry: string;
}

/** What is shown once. */
export interface MadePassword {
  kind: PasswordKind;
  registry: string;
  username: string;
  password: string;
  /** RFC 3339. */
  end: string;
}

const DAY_MS = 86_400_000;

/** Makes the identity of a password and binds its role, or neither. Source: docs/pull-tokens.md. */
export async function makeToken({ kind, name, group, days, registry }: Wanted): Promise<MadePassword> {
  const nowMs = Date.now();
  // The end of a token is in whole seconds.
  const endMs = Math.floor((nowMs + days * DAY_MS) / 1000) * 1000;
  const { roles } = await call(listRoles, { name: kind.role, uidp: { inRoot: true }, pageSize: 1 });
  const roleUid = roles[0]?.uid;
  if (roleUid === undefined) throw new Error(`You cannot see the role ${kind.role}.`);
  const made = await makePassword({ issuer: kind.issuer, audience: registry, nowMs, endMs });
  const end = new Date(endMs).toISOString();
  const { issuer, subject, issuerKeys, token } = made;
  const staticKeys = { issuer, subject, issuerKeys, expirationTime: end, audiences: [registry] };
  const { uid } = await call(createIdentity, {
    parent: group,
    identity: { name, description: kind.noun, staticKeys },
  });
  try {
    await call(createRoleBinding, { parent: group, roleBinding: { identityUid: uid, roleUid } });
  } catch (error) {
    // Without its role it is of no use. Where it stays behind, it can do nothing.
    await call(deleteIdentity, { uid }).catch(() => undefined);
    throw error;
  }
  return { kind, registry, username: uid, password: token, end };
}

/** The line that logs docker in. Neither text has a character that a shell reads otherwise. */
export function loginCommand({ registry, username, password }: MadePassword): string {
  return `printf %s '${password}' | docker login ${registry} --username ${username} --password-stdin`;
}
