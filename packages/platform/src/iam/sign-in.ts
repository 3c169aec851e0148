import { create } from "@bufbuild/protobuf";
import { type Identity, IdentitySchema, SignInSchema } from "@moorage/api/messages";
import { audit } from "@moorage/kernel/audit";
import type { Actor, Call, Caller } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { unauthenticated } from "@moorage/kernel/errors";
import type { Row } from "@moorage/kernel/store";
import { identities } from "./identities.ts";
import { relationshipColumns } from "./relationship-column.ts";
import { ensureBinding } from "./role-bindings.ts";
import type { Person } from "./sign-in-claims.ts";
import { type Provider, providerOf } from "./sign-in-provider.ts";
import { carryGroups } from "./stored-groups.ts";

/** A person, identified by an ID token that was verified against the issuer and client named here. */
export interface SignIn extends Person {
  /** The provider's uid. */
  provider: string;
  issuer: string;
  clientId: string;
  /** When the provider's token ends, in milliseconds since 1970: its groups grant nothing from then on. */
  groupsUntilMs: number;
}

/** `external`: what the person's tokens carry of the groups, as in Caller. `groupsLeftOut`: as in Person. */
export interface SignedIn extends Pick<Caller, "external"> {
  identity: string;
  created: boolean;
  groupsLeftOut: string;
}

/**
 * Finds the person's identity, or creates it and binds it to the provider's default role. The role is bound only on
 * creation, so that a binding that was removed does not come back. It records the time of the sign-in and the e-mail
 * address. Throws UNAUTHENTICATED when the provider was deleted, or no longer has the issuer and client that the ID
 * token was for.
 */
export async function signInPerson(call: Call, person: SignIn): Promise<SignedIn> {
  const provider = await providerOf(call.tx, person.provider);
  if (provider === undefined || provider.issuer !== person.issuer || provider.clientId !== person.clientId) {
    throw unauthenticated("the identity provider is gone, or was changed");
  }
  const known = await call.tx
    .selectFrom("identities")
    .selectAll()
    .where("provider", "=", provider.uid)
    .where("issuer", "=", person.issuer)
    .where("subject", "=", person.subject)
    .executeTakeFirst();
  const relationship = relationshipColumns(claimMatch(person));
  if (known !== undefined) {
    const addresses = emailOf(person, known);
    const { external, groupsLeftOut } = await groupsOfSignIn(call, person, known.uid);
    await call.tx
      .updateTable("identities")
      .set({
        ...relationship,
        ...addresses,
        groups_left_out: noteOf(provider, person, groupsLeftOut),
        last_seen_time: Math.max(call.nowMs, known.last_seen_time ?? 0),
      })
      .where("uid", "=", known.uid)
      .execute();
    await auditSignIn(call, person, known.uid, leftOut(groupsLeftOut));
    emitSignIn(call, "signed_in", provider, person, { uid: known.uid, ...addresses });
    return { identity: known.uid, created: false, groupsLeftOut, ...(external && { external }) };
  }
  const made = await identities.insert(call, "", {
    ...relationship,
    ...emailOf(person, { email: "", email_unverified: "" }),
    name: person.name,
    description: "",
    company: "",
    provider: provider.uid,
    uncounted: 0,
    creator: "",
    groups_left_out: "",
    last_seen_time: call.nowMs,
    create_time: call.nowMs,
    update_time: call.nowMs,
  });
  const { external, groupsLeftOut } = await groupsOfSignIn(call, person, made.uid);
  const note = noteOf(provider, person, groupsLeftOut);
  if (note !== "")
    await call.tx.updateTable("identities").set({ groups_left_out: note }).where("uid", "=", made.uid).execute();
  emitSignIn(call, "registered", provider, person, made);
  if (provider.defaultRole !== "")
    await ensureBinding(call, provider.group, made.uid, provider.defaultRole, actorOf(person, made.uid));
  await auditSignIn(call, person, made.uid, {
    created: "true",
    ...leftOut(groupsLeftOut),
    ...(provider.defaultRole !== "" && { role: provider.defaultRole }),
  });
  return { identity: made.uid, created: true, groupsLeftOut, ...(external && { external }) };
}

// The person's identity is in no organization: the entry goes to the provider's.
async function auditSignIn(
  call: Call,
  person: SignIn,
  identity: string,
  details: Record<string, string> = {},
): Promise<void> {
  await audit(call, { method: "iam.signIn", resource: person.provider, ...actorOf(person, identity), details });
}

function emitSignIn(
  call: Call,
  what: "registered" | "signed_in",
  provider: Provider,
  person: SignIn,
  { uid, email }: { uid: string; email: string },
): void {
  call.emit(SignInSchema, {
    type: `api.auth.${what}.v1`,
    subject: uid,
    group: provider.group,
    by: actorOf(person, uid),
    body: { identity: uid, provider: provider.uid, email },
  });
}

function actorOf({ issuer, subject }: SignIn, identity: string): Actor {
  return { identity, act: { iss: issuer, sub: subject } };
}

export const signIn = command("iam.signIn", signInPerson);

function claimMatch({ issuer, subject, clientId }: SignIn): Identity["relationship"] {
  return create(IdentitySchema, {
    relationship: {
      case: "claimMatch",
      value: {
        iss: { case: "issuer", value: issuer },
        sub: { case: "subject", value: subject },
        aud: { case: "audience", value: clientId },
      },
    },
  }).relationship;
}

type Addresses = Pick<Row<"identities">, "email" | "email_unverified">;

/**
 * The e-mail columns after a sign-in: a token without an address changes nothing; one with an unverified address
 * removes a verified one.
 */
function emailOf({ email, emailVerified }: SignIn, known: Addresses): Addresses {
  if (email === undefined) return { email: known.email, email_unverified: known.email_unverified };
  return emailVerified ? { email, email_unverified: "" } : { email: "", email_unverified: email };
}

/**
 * The groups for the person's tokens: those that a mapping names today come first, and others follow, so that a mapping
 * made later applies to them immediately.
 */
async function groupsOfSignIn(
  call: Call,
  { provider, groups, groupsLeftOut, groupsUntilMs: untilMs }: SignIn,
  identity: string,
): Promise<Pick<SignedIn, "external" | "groupsLeftOut">> {
  if (groups.length === 0) return { groupsLeftOut };
  const mapped = new Set<string>();
  for (let at = 0; at < groups.length; at += MAX_LOOKED_UP) {
    const rows = await call.tx
      .selectFrom("external_group_role_mappings")
      .select("external_group_id")
      .distinct()
      .where("parent", "=", provider)
      .where("external_group_id", "in", groups.slice(at, at + MAX_LOOKED_UP))
      .execute();
    for (const row of rows) mapped.add(row.external_group_id);
  }
  const { carried, tooMany } = await carryGroups(call, { identity, provider, untilMs }, groups, mapped);
  const words = [groupsLeftOut, tooMany === 0 ? "" : `${tooMany} groups that are too many to be kept`];
  return {
    external: { provider, ...carried, untilMs },
    groupsLeftOut: words.filter((one) => one !== "").join("; "),
  };
}

const MAX_LOOKED_UP = 1_000;

// A person in no group may have a token without the claim: it is shown on the person, and not logged.
function noteOf({ groupsClaim }: Provider, { lacksGroups }: SignIn, groupsLeftOut: string): string {
  return groupsLeftOut === "" && lacksGroups ? `the token has no claim ${groupsClaim}` : groupsLeftOut;
}

function leftOut(groupsLeftOut: string): Record<string, string> {
  return groupsLeftOut === "" ? {} : { groupsLeftOut };
}
