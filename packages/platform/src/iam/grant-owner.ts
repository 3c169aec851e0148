import { sql } from "kysely";
import { GroupSchema, IdentitySchema } from "@moorage/api/messages";
import { audit } from "@moorage/kernel/audit";
import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { invalidArgument, notFound } from "@moorage/kernel/errors";
import { isUid, parentOf } from "@moorage/kernel/lib/uid";
import type { Database, Row } from "@moorage/kernel/store";
import { ASSUMABLE } from "./assumable.ts";
import { ensureBinding } from "./role-bindings.ts";
import { reaches, type WayIn, wayIn } from "./owners.ts";

/** Who becomes an owner, and of what. */
export interface OwnerGrant {
  /** The organization's name or uid. */
  organization: string;
  /** An identity's uid, or the verified e-mail address of a person. Defaults to the owner of the first start. */
  identity?: string | undefined;
}

/** What became of it. */
export interface GrantedOwner {
  organization: Pick<Row<"groups">, "uid" | "name">;
  identity: Pick<Row<"identities">, "uid" | "name" | "email">;
  /** The uid of the role binding. */
  binding: string;
  /** Whether the identity was an owner before: then nothing was changed. */
  wasOwner: boolean;
  /** How the identity gets a token. */
  wayIn: WayIn;
}

const MAX_NAMED = 10;

/**
 * Makes an identity an owner of an organization, for the operator: nobody's rights are asked for. Throws NOT_FOUND for
 * an organization or an identity that is not there, INVALID_ARGUMENT for an e-mail address of several people and for an
 * identity whose rights do not reach the organization.
 */
export const grantOwner = command(
  "iam.grantOwner",
  async (call: Call, { organization: named, identity: who }: OwnerGrant): Promise<GrantedOwner> => {
    const { tx, nowMs } = call;
    const organization = await organizationOf(tx, named);
    const row = await identityOf(tx, who ?? (await firstOwner(tx)));
    const { uid, name, email } = row;
    if (!reaches(uid, organization.uid))
      throw invalidArgument({
        field: "identity",
        description: `the rights of ${uid} end at its own group, ${parentOf(uid)}`,
      });
    const role = await tx
      .selectFrom("roles")
      .select("uid")
      .where("parent", "=", "")
      .where("name", "=", "owner")
      .executeTakeFirstOrThrow();
    const before = await tx
      .selectFrom("role_bindings")
      .select("uid")
      .where("parent", "=", organization.uid)
      .where("identity_uid", "=", uid)
      .where("role_uid", "=", role.uid)
      .executeTakeFirst();
    const binding = before ?? (await ensureBinding(call, organization.uid, uid, role.uid, "system"));
    if (before === undefined)
      await audit(call, {
        method: "iam.grantOwner",
        resource: organization.uid,
        isOrganization: true,
        isSystem: true,
        details: { identity: uid, binding: binding.uid },
      });
    const isAssumable =
      (await tx
        .selectFrom("identities")
        .select("uid")
        .where("uid", "=", uid)
        .where(sql.raw<boolean>(ASSUMABLE))
        .executeTakeFirst()) !== undefined;
    return {
      organization,
      identity: { uid, name, email },
      binding: binding.uid,
      wasOwner: before !== undefined,
      wayIn: isAssumable ? wayIn(row, nowMs) : "none",
    };
  },
);

async function organizationOf(tx: Database, named: string): Promise<GrantedOwner["organization"]> {
  const found = await tx
    .selectFrom("groups")
    .select(["uid", "name"])
    .where("parent", "=", "")
    .where(isUid(named) ? "uid" : "name", "=", named)
    .executeTakeFirst();
  if (found === undefined) throw notFound(GroupSchema.typeName, named);
  return found;
}

async function identityOf(tx: Database, who: string): Promise<Row<"identities">> {
  const found = await tx
    .selectFrom("identities")
    .selectAll()
    .where(isUid(who) ? sql.ref("uid") : sql`lower(email)`, "=", isUid(who) ? who : who.toLowerCase())
    .orderBy("uid")
    .limit(MAX_NAMED + 1)
    .execute();
  const [row, ...others] = found;
  if (row === undefined || who === "") throw notFound(IdentitySchema.typeName, who);
  if (others.length === 0) return row;
  const listed = found.slice(0, MAX_NAMED).map(({ uid, name }) => `${uid} (${name})`);
  const more = found.length > MAX_NAMED ? ", and more" : "";
  throw invalidArgument({
    field: "identity",
    description: `several identities have the address ${who}; name one by its uid: ${listed.join(", ")}${more}`,
  });
}

/** The uid of the identity that the first start made. */
async function firstOwner(tx: Database): Promise<string> {
  const { value } = await tx
    .selectFrom("installation")
    .select("value")
    .where("key", "=", "bootstrap")
    .executeTakeFirstOrThrow();
  return (JSON.parse(value) as { identity: { uid: string } }).identity.uid;
}
