import { sql } from "kysely";
import { Capability } from "@moorage/api/messages";
import { Code, MoorageError } from "@moorage/kernel/errors";
import type { Call } from "@moorage/kernel/core/call";
import type { ServiceContext } from "@moorage/kernel/core/service";
import { isWithin, organizationOf, parentOf } from "@moorage/kernel/lib/uid";
import type { Database, Row } from "@moorage/kernel/store";
import { ASSUMABLE } from "./assumable.ts";
import { isPasswordIssuer } from "./registry-passwords.ts";
import { endOf, relationshipOf } from "./relationship-column.ts";

/** What the check for the last owner needs to know of the installation. */
export type OwnerContext = Pick<ServiceContext, "ownerRole" | "admins">;

/**
 * Does a write that may take rights away, and throws FAILED_PRECONDITION with `LAST_OWNER` when one of the
 * organizations had an owner before it and has none after it. Both are read in the transaction of the write, so that
 * two owners who remove each other do not both succeed.
 *
 * An owner is an identity that is bound on the organization itself to `owner`, or to a custom role with the same
 * capabilities, and can sign in: its identity provider is there and still has the issuer through which the person
 * signed in; its static keys have not expired and are not those of a registry password. An identity without a
 * relationship gets tokens on the server's machine alone: it is as good as another of its kind, but takes the place of
 * an owner who signs in without the machine only when it is an administrator of the installation.
 */
export async function keepingOwners<T>(
  call: Call,
  context: OwnerContext,
  organizations: readonly string[],
  write: () => Promise<T>,
): Promise<T> {
  const before = new Map<string, Ownership>();
  for (const uid of organizations) before.set(uid, await ownershipOf(call, context, uid));
  const answer = await write();
  for (const [uid, had] of before) {
    const has = await ownershipOf(call, context, uid);
    if (isLess(has, had)) throw await lastOwner(call, uid);
  }
  return answer;
}

/** The organizations in which the identities may be owners: those on which they are bound. */
export async function organizationsOwnedBy(tx: Database, identities: readonly string[]): Promise<string[]> {
  if (identities.length === 0) return [];
  const rows = await tx
    .selectFrom("role_bindings")
    .select("parent")
    .distinct()
    .where("identity_uid", "in", [...identities])
    .execute();
  return rows.map(({ parent }) => parent).filter((uid) => parentOf(uid) === "");
}

/** The organizations on which people of the identity provider are bound. */
export async function organizationsOwnedThrough(tx: Database, provider: string): Promise<string[]> {
  const rows = await tx
    .selectFrom("role_bindings")
    .innerJoin("identities", "identities.uid", "role_bindings.identity_uid")
    .select("role_bindings.parent as parent")
    .distinct()
    .where("identities.provider", "=", provider)
    .execute();
  const own = organizationOf(provider);
  return [...new Set([own, ...rows.map(({ parent }) => parent).filter((uid) => parentOf(uid) === "")])];
}

/** Whether the organization would be left without an owner if these identities were none. */
export async function areLastOwners(
  call: Call,
  context: OwnerContext,
  organization: string,
  isAmong: (owner: Pick<Row<"identities">, "uid" | "provider">) => boolean,
): Promise<boolean> {
  const has = await ownershipOf(call, context, organization);
  return isLess(await ownershipOf(call, context, organization, (owner) => !isAmong(owner)), has);
}

/** Who owns an organization. */
interface Ownership {
  /** Somebody who signs in without the server's machine. */
  independent: boolean;
  /** An administrator of the installation whose tokens are made on the server's machine. */
  operator: boolean;
  /** Another identity without a relationship. */
  machine: boolean;
  /** Whoever is in a mapped group of an identity provider; nobody knows whether anybody is. */
  mapped: boolean;
}

function isLess(has: Ownership, had: Ownership): boolean {
  if (had.independent) return !has.independent && !has.operator;
  if (had.operator || had.machine) return !has.independent && !has.operator && !has.machine;
  return had.mapped && !has.mapped && !has.independent && !has.operator && !has.machine;
}

const PAGE = 200;

type Owner = Pick<Row<"identities">, "uid" | "provider" | "issuer" | "relationship"> & { binding: string };

async function ownershipOf(
  { tx, nowMs }: Call,
  context: OwnerContext,
  organization: string,
  counts: (owner: Owner) => boolean = () => true,
): Promise<Ownership> {
  const roles = await owningRoles(tx, context.ownerRole, organization);
  const found: Ownership = { independent: false, operator: false, machine: false, mapped: false };
  if (roles.length === 0) return found;
  for (let after = ""; ;) {
    const owners: Owner[] = await tx
      .selectFrom("role_bindings")
      .innerJoin("identities", "identities.uid", "role_bindings.identity_uid")
      .select([
        "role_bindings.uid as binding",
        "identities.uid as uid",
        "identities.provider as provider",
        "identities.issuer as issuer",
        "identities.relationship as relationship",
      ])
      .where("role_bindings.parent", "=", organization)
      .where("role_bindings.role_uid", "in", roles)
      .where("role_bindings.uid", ">", after)
      .where(sql.raw<boolean>(ASSUMABLE))
      .orderBy("role_bindings.uid")
      .limit(PAGE)
      .execute();
    for (const owner of owners) {
      if (!counts(owner) || !reaches(owner.uid, organization)) continue;
      const way = wayIn(owner, nowMs);
      if (way === "own") return { ...found, independent: true };
      if (way === "machine") found[context.admins?.includes(owner.uid) ? "operator" : "machine"] = true;
    }
    if (owners.length < PAGE) break;
    after = owners.at(-1)?.binding ?? "";
  }
  return { ...found, mapped: await isMapped(tx, organization, roles) };
}

/** The built-in role, and the organization's own roles with all its capabilities. */
async function owningRoles(tx: Database, ownerRole: string, organization: string): Promise<string[]> {
  const rows = await tx
    .selectFrom("roles")
    .select("uid")
    .where((where) => where.or([where("uid", "=", ownerRole), where("parent", "=", organization)]))
    .where("capabilities", "=", tx.selectFrom("roles").select("capabilities").where("uid", "=", ownerRole))
    .execute();
  return rows.map(({ uid }) => uid);
}

/** Whether rights on the organization reach the identity; see reaches in auth/permissions/rights.ts. */
export function reaches(identity: string, organization: string): boolean {
  return !isWithin(identity, organization) || parentOf(identity) === organization;
}

/** How an identity gets a token: by its own relationship, by whoever is at the server's machine, or not at all. */
export type WayIn = "own" | "machine" | "none";

/** How the identity gets a token. That the identity provider of a person is there is for the caller to know. */
export function wayIn(identity: Pick<Row<"identities">, "provider" | "issuer" | "relationship">, nowMs: number): WayIn {
  const relationship = relationshipOf(identity);
  switch (relationship.case) {
    case undefined:
      return identity.provider === "" ? "machine" : "none";
    case "claimMatch":
      return "own";
    case "staticKeys":
      return endOf(relationship) > nowMs && !isPasswordIssuer(identity.issuer) ? "own" : "none";
    default:
      // Tokens for these are not issued.
      return "none";
  }
}

async function isMapped(tx: Database, organization: string, roles: string[]): Promise<boolean> {
  const mapping = await tx
    .selectFrom("external_group_role_mappings as m")
    .innerJoin("identity_providers as p", "p.uid", "m.parent")
    .select("m.uid")
    .where("m.scope", "=", organization)
    .where("m.role_uid", "in", roles)
    .where("p.groups_claim", "!=", "")
    .limit(1)
    .executeTakeFirst();
  return mapping !== undefined;
}

async function lastOwner(call: Call, organization: string): Promise<MoorageError> {
  // A person may own an organization of which the caller knows nothing.
  const isSeen = await call.may(Capability.CAP_IAM_GROUPS_LIST, organization);
  const subject = isSeen ? organization : "";
  const which = isSeen ? `organization ${organization}` : "another organization";
  const description = `${which} would be left without an owner who can sign in: give another identity the role owner on it first`;
  return new MoorageError(Code.FailedPrecondition, `Precondition failed: ${description}`, {
    metadata: { reason: "LAST_OWNER" },
    preconditionViolations: [{ type: "LAST_OWNER", subject, description }],
  });
}
