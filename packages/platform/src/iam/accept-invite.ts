import { hash } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type AcceptGroupInviteRequest,
  AcceptGroupInviteRequestSchema,
  GroupInviteSchema,
  GroupInvitesService,
  InviteAcceptedSchema,
  type RoleBindingSchema,
} from "@moorage/api/messages";
import { neededFor } from "@moorage/kernel/aip/access";
import { validate } from "@moorage/kernel/aip/validate";
import { isWithin } from "@moorage/kernel/lib/uid";
import type { Actor, Call } from "@moorage/kernel/core/call";
import { Code, MoorageError, permissionDenied } from "@moorage/kernel/errors";
import type { Database, Row } from "@moorage/kernel/store";
import { hydratedBinding } from "./binding-answers.ts";
import { identities } from "./identities.ts";
import { bindings, ensureBinding } from "./role-bindings.ts";
import { capabilitiesOf, roles } from "./roles.ts";
import { providerOf } from "./sign-in-provider.ts";

const CREATE_NEEDS = neededFor(GroupInvitesService.method.createGroupInvite);

/** The hash under which an invite's code is stored. */
export function hashOf(code: string): string {
  return hash("sha256", code, "hex");
}

/** The part of the hash that is shown, so that a person can refer to an invite without its code. */
export function keyIdOf(codeHash: string): string {
  return codeHash.slice(0, 8);
}

/** Why an invite is not accepted; sent as `reason` in the metadata of ErrorInfo. */
type Rejection =
  | "INVITE_UNKNOWN"
  | "INVITE_REVOKED"
  | "INVITE_EXPIRED"
  | "INVITE_USED"
  | "INVITE_FOR_ANOTHER_EMAIL"
  | "INVITE_OUT_OF_REACH"
  | "INVITER_WITHOUT_RIGHTS"
  | "BINDING_REMOVED";

/** Throws PERMISSION_DENIED for a narrowed token: it is meant to have fewer rights, so it must not gain any. */
export function requireWholeToken({ caller: { capabilities, scopes } }: Pick<Call, "caller">): void {
  if (capabilities !== undefined || scopes !== undefined)
    throw permissionDenied("invites are accepted with a token that is not narrowed");
}

/**
 * Binds the caller to the invite's role. A caller that accepted it before gets the same binding, even if the invite has
 * ended since. An invite gives an identity its role once: accepting it again does not restore a binding that was
 * removed. Nor does it give rights that its creator has lost. `emailIssuers`: as in ServiceContext.
 */
export async function acceptInvite(
  call: Call,
  request: AcceptGroupInviteRequest,
  emailIssuers: readonly string[],
): Promise<MessageInitShape<typeof RoleBindingSchema>> {
  validate(AcceptGroupInviteRequestSchema, request);
  requireWholeToken(call);
  return await acceptInviteAs(call, request.code, { identity: call.caller.identity, emailIssuers });
}

/**
 * The same for an identity that this call authenticates, which is then `by`: rejections are those of acceptInvite.
 */
export async function acceptInviteAs(
  call: Call,
  code: string,
  { identity: uid, by, emailIssuers = [] }: { identity: string; by?: Actor; emailIssuers?: readonly string[] },
): Promise<MessageInitShape<typeof RoleBindingSchema>> {
  const codeHash = hashOf(code);
  const invite = await inviteOf(call.tx, code);
  if (invite === undefined) throw await unknown(call, codeHash);
  const accepted = await call.tx
    .selectFrom("invite_acceptances")
    .select("binding")
    .where("invite", "=", invite.uid)
    .where("identity", "=", uid)
    .executeTakeFirst();
  if (accepted !== undefined) {
    const binding = await bindings.find(call.tx, accepted.binding);
    if (binding === undefined)
      throw failed("BINDING_REMOVED", codeHash, "the invite was accepted before, and its role was taken away since");
    return await hydratedBinding(call, binding);
  }
  await requireValid(call, invite);
  await requireInvitee(call, invite, uid, emailIssuers);
  await requireInviterRights(call, invite);
  const binding = await ensureBinding(call, invite.parent, uid, invite.role_uid, by);
  await call.tx
    .insertInto("invite_acceptances")
    .values({ invite: invite.uid, identity: uid, binding: binding.uid, create_time: call.nowMs })
    .execute();
  call.emit(InviteAcceptedSchema, {
    type: "api.iam.group_invite.accepted.v1",
    subject: invite.uid,
    group: invite.parent,
    body: { uid: invite.uid, identity: uid, roleBinding: binding.uid },
    ...(by && { by }),
  });
  return await hydratedBinding(call, binding);
}

/** The invite with this code; undefined when there is none. */
export function inviteOf(db: Database, code: string): Promise<Row<"group_invites"> | undefined> {
  return db.selectFrom("group_invites").selectAll().where("code_hash", "=", hashOf(code)).executeTakeFirst();
}

async function unknown(call: Call, codeHash: string): Promise<MoorageError> {
  const revoked = await call.tx
    .selectFrom("revoked_invites")
    .select("code_hash")
    .where("code_hash", "=", codeHash)
    .where("expiration_time", ">", call.nowMs)
    .executeTakeFirst();
  if (revoked !== undefined) return failed("INVITE_REVOKED", codeHash, "the invite was revoked");
  // The code is a secret: it is not sent back or logged.
  const resource = { type: GroupInviteSchema.typeName, name: keyIdOf(codeHash) };
  return new MoorageError(Code.NotFound, `GroupInvite not found: ${resource.name}`, {
    resource,
    metadata: reasoned("INVITE_UNKNOWN"),
  });
}

/** Throws FAILED_PRECONDITION for an invite that has ended. */
export async function requireValid(
  call: Pick<Call, "tx" | "nowMs">,
  { uid, code_hash: codeHash, expiration_time: endMs, single_use: singleUse }: Row<"group_invites">,
): Promise<void> {
  if (endMs <= call.nowMs) throw failed("INVITE_EXPIRED", codeHash, "the invite has expired");
  if (singleUse === 0) return;
  const used = await call.tx
    .selectFrom("invite_acceptances")
    .select("identity")
    .where("invite", "=", uid)
    .limit(1)
    .executeTakeFirst();
  if (used !== undefined)
    throw failed("INVITE_USED", codeHash, "the invite was for a single use and was accepted before");
}

/**
 * Throws PERMISSION_DENIED unless the invite is for this identity and its group is within the identity's reach: an
 * identity's rights never reach above its parent group. Source: docs/contract.md, "Capabilities and roles".
 */
async function requireInvitee(
  call: Call,
  { email, parent: group }: Row<"group_invites">,
  uid: string,
  emailIssuers: readonly string[],
): Promise<void> {
  const identity = await identities.get(call.tx, uid);
  const isInvited =
    email === "" ||
    (comparable(email) === comparable(identity.email) && (await isVouchedFor(call, identity, group, emailIssuers)));
  // One answer for both, so that nobody learns by it whom the invite is for.
  if (!isInvited)
    throw permissionDenied(
      "the invite is for another e-mail address, or none of the identity providers whose word counts for it has verified the address",
      reasoned("INVITE_FOR_ANOTHER_EMAIL"),
    );
  if (identity.parent !== "" && !isWithin(group, identity.parent)) {
    throw permissionDenied(
      "the identity's rights cannot reach the group of the invite",
      reasoned("INVITE_OUT_OF_REACH"),
    );
  }
}

/**
 * Whether the identity's e-mail address was verified by a provider whose word counts for the group: one of the group
 * itself or of a group above it, or one that the operator trusts for the address's domain. Whoever owns another
 * organization, or a group below, can have a provider of its own say anything.
 */
async function isVouchedFor(
  call: Call,
  { provider: uid, issuer, email }: Row<"identities">,
  group: string,
  emailIssuers: readonly string[],
): Promise<boolean> {
  const provider = await providerOf(call.tx, uid);
  if (provider === undefined || provider.issuer !== issuer) return false;
  const domain = comparable(email).slice(email.lastIndexOf("@") + 1);
  return isWithin(group, provider.group) || emailIssuers.includes(`${domain}=${issuer}`);
}

/**
 * Throws FAILED_PRECONDITION unless the invite's creator could still make it: the creator exists, may create invites,
 * and holds every capability that the role has today.
 */
async function requireInviterRights(
  call: Call,
  { creator, parent: group, role_uid: roleUid, code_hash: codeHash }: Row<"group_invites">,
): Promise<void> {
  const role = await roles.get(call.tx, roleUid);
  for (const capability of [...CREATE_NEEDS, ...capabilitiesOf(role)]) {
    if (await call.heldBy(creator, capability, group)) continue;
    throw failed("INVITER_WITHOUT_RIGHTS", codeHash, "the creator of the invite may no longer give its role");
  }
}

// Mail servers may distinguish names by case (RFC 5321 §2.4), and next to none does: people write their addresses as
// they like. The provider vouches for the mailbox all the same.
function comparable(email: string): string {
  return email.toLowerCase();
}

function failed(reason: Rejection, codeHash: string, description: string): MoorageError {
  return new MoorageError(Code.FailedPrecondition, `Precondition failed: ${description}`, {
    metadata: reasoned(reason),
    preconditionViolations: [{ type: reason, subject: keyIdOf(codeHash), description }],
  });
}

function reasoned(reason: Rejection): Record<string, string> {
  return { reason };
}
