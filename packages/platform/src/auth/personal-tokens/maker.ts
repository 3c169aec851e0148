import type { Call } from "@moorage/kernel/core/call";
import { Code, failedPrecondition, MoorageError, permissionDenied } from "@moorage/kernel/errors";
import { parentOf } from "@moorage/kernel/lib/uid";
import { ownGrantsOf } from "../permissions/rights.ts";

const MAX_PER_PERSON = 100;

/**
 * Throws PERMISSION_DENIED unless the caller is a person, with a token that stands for the person: a token that is
 * narrowed would make a wider one, and a personal token one that outlives it. Throws FAILED_PRECONDITION for a person
 * with no rights but those that the identity provider's groups give, which end with the sign-in.
 */
export async function requireMaker({ caller, tx }: Call): Promise<void> {
  const { identity, personalToken, capabilities, scopes, client, external } = caller;
  if (personalToken !== undefined)
    throw denied("a personal token makes no other: sign in as yourself", "PERSONAL_TOKEN");
  if (parentOf(identity) !== "") throw denied("only people make personal tokens: this is a machine", "NO_PERSON");
  if (capabilities !== undefined || scopes !== undefined)
    throw denied("a token that is narrowed makes no personal token: sign in as yourself", "NARROWED");
  if (client?.startsWith("https://") === true)
    throw denied("an application that you let in makes no personal token: sign in as yourself", "APPLICATION");
  if (external === undefined || external.groups.length === 0 || (await ownGrantsOf(tx, identity)).length > 0) return;
  throw failedPrecondition({
    type: "RIGHTS_OF_GROUPS",
    subject: identity,
    description:
      "all your rights come from groups of your identity provider and end with your sign-in, so that a personal token would allow nothing: ask an owner for a role",
  });
}

/**
 * Checks that the caller may have one more token: at the limit, expired ones are removed. Throws RESOURCE_EXHAUSTED
 * when none has expired.
 */
export async function requireBelowLimit({ caller: { identity }, tx, nowMs }: Call): Promise<void> {
  const count = async (): Promise<number> => {
    const { n } = await tx
      .selectFrom("personal_tokens")
      .select(({ fn }) => fn.countAll<number>().as("n"))
      .where("identity", "=", identity)
      .executeTakeFirstOrThrow();
    return Number(n);
  };
  if ((await count()) < MAX_PER_PERSON) return;
  await tx
    .deleteFrom("personal_tokens")
    .where("identity", "=", identity)
    .where("expiration_time", "<=", nowMs)
    .execute();
  if ((await count()) < MAX_PER_PERSON) return;
  throw new MoorageError(
    Code.ResourceExhausted,
    `Resource exhausted: you have ${MAX_PER_PERSON} personal tokens: revoke one that you no longer use`,
  );
}

function denied(message: string, reason: string): MoorageError {
  return permissionDenied(message, { reason });
}
