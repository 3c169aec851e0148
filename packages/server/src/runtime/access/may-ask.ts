import { Capability, IdentitySchema, PersonalTokenSchema, SessionSchema } from "@moorage/api/messages";
import { holdsOn, resourceExists } from "@moorage/platform/auth";
import type { Call } from "@moorage/kernel/core/call";
import { invalidArgument, notFound, permissionDenied } from "@moorage/kernel/errors";
import { isWithin } from "@moorage/kernel/lib/uid";
import { aboutOf, type Question } from "./question.ts";

const NEEDED = Capability.CAP_IAM_ROLE_BINDINGS_LIST;

/**
 * Checks that the caller may ask: it lists role bindings where the resource is, and sees the resource. Throws NOT_FOUND
 * when it does not see it, PERMISSION_DENIED when that is all it does, INVALID_ARGUMENT on `resource` without one.
 */
export async function requireMayAsk(call: Call, question: Question): Promise<void> {
  const { place, home } = question;
  const { resource, name, see } = aboutOf(question);
  if (question.kind === "method" && question.named === "")
    throw invalidArgument({ field: "resource", description: "is required to ask about somebody else" });
  if (place === "" || !(await holdsOn(call, { resource }, see, place))) throw notFound(resource, name);
  // What everybody holds on its own sessions and tokens says nothing of the rights of others.
  const isSignIn = resource === SessionSchema.typeName || resource === PersonalTokenSchema.typeName;
  const isBoundElsewhere = home !== place || isSignIn;
  if (await (isBoundElsewhere ? call.may(NEEDED, home) : holdsOn(call, { resource }, NEEDED, place))) return;
  const isThere =
    question.kind === "action" ? question.resolved.repo !== undefined : await resourceExists(call, resource, place);
  throw isThere
    ? permissionDenied("the caller lacks CAP_IAM_ROLE_BINDINGS_LIST", { missing: "CAP_IAM_ROLE_BINDINGS_LIST" })
    : notFound(resource, name);
}

/**
 * Whether the caller sees the identity: itself, one of a group whose identities it lists, or one with a role binding
 * that it lists.
 */
export async function seesIdentity(call: Call, uid: string): Promise<boolean> {
  if (await holdsOn(call, { resource: IdentitySchema.typeName }, Capability.CAP_IAM_IDENTITY_LIST, uid)) return true;
  const listed = await call.visible(NEEDED);
  if (listed.length === 0) return false;
  const rows = await call.tx.selectFrom("role_bindings").select("parent").where("identity_uid", "=", uid).execute();
  return rows.some(({ parent }) => listed.some((group) => isWithin(parent, group)));
}

/** Throws NOT_FOUND unless the caller sees the identity. */
export async function requireSeen(call: Call, uid: string): Promise<void> {
  if (!(await seesIdentity(call, uid))) throw notFound(IdentitySchema.typeName, uid);
}
