import { Capability } from "@moorage/api/messages";
import { audit } from "@moorage/kernel/audit";
import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { alreadyExists, failedPrecondition } from "@moorage/kernel/errors";
import type { Secrets } from "@moorage/kernel/lib/secrets";
import { newUid } from "@moorage/kernel/lib/uid";
import {
  acceptInviteAs,
  ensureAccountsProvider,
  holdsAllOf,
  invitePreview,
  type LocalAccounts,
  mayMakeAccounts,
  signInPerson,
} from "../../iam/index.ts";
import type { Begun } from "../sign-in/link-commands.ts";
import { noAccounts, secondFactorNeeded } from "./refusals.ts";
import { type Account, accountPlace, findAccount, homeOf, NEW_ACCOUNT } from "./rows.ts";
import {
  accountRow,
  actorOf,
  CHANGE_ACCOUNT,
  type Granting,
  insertPasskey,
  type NewProof,
  personOfAccount,
  removeProofs,
  setPassword,
  signInAs,
  signOutElsewhere,
} from "./write.ts";

type Who = Omit<Begun, "expireTimeMs">;

/** A new account and how its person is signed in. @public in the packed package's declarations. */
export interface NewAccount {
  name: string;
  handle: string;
  proof: NewProof;
  setting: LocalAccounts;
}

/** Whose account it becomes, and the name of the organization that is not anybody's home. */
export interface OwnAccount {
  identity: string;
  session: string;
  publicOrganization: string;
}

/**
 * Makes an account with an invite, accepts the invite, and signs in. The app's secret is sealed for NEW_ACCOUNT.
 * Undefined for an invite that is not good. Throws ALREADY_EXISTS for a name that is taken, and FAILED_PRECONDITION
 * where no accounts are made or the invite's maker has lost the right to it.
 */
export const makeAccount = command(
  "auth.makeAccount",
  async (
    call: Call,
    { code, name, handle, proof: sealed, setting, granting }: NewAccount & { code: string; granting: Granting },
    { secrets }: { secrets: Secrets },
  ): Promise<Who | undefined> => {
    const invite = await invitePreview(call.tx, code, call.nowMs);
    if (invite === undefined) return undefined;
    if (invite.isForAddress || !(await mayMakeAccounts(call.tx, setting, invite.organization))) throw noAccounts();
    const provider = await ensureAccountsProvider(call, invite.organization);
    requireSecond(provider.secondFactor, sealed);
    await requireFreeName(call, provider.uid, name);
    const subject = newUid("");
    const { identity } = await signInPerson(call, personOfAccount(provider.uid, subject, name));
    const proof = sealedFor(identity, sealed, secrets);
    await call.tx
      .insertInto("accounts")
      .values(accountRow(call, { identity, provider: provider.uid, name, handle, proof }))
      .execute();
    if (proof.kind === "passkey" && !(await insertPasskey(call, identity, proof))) throw takenPasskey();
    await acceptInviteAs(call, code, { identity, by: actorOf({ identity, subject }) });
    await noteChange(call, { identity, provider: provider.uid, subject }, { made: "account", by: proof.kind });
    return granted(call, identity, granting);
  },
);

/** Makes the account of an identity that is signed in without one: see mayHaveAccount. Throws as makeAccount does. */
export const makeOwnAccount = command(
  "auth.makeOwnAccount",
  async (
    call: Call,
    { identity, session, name, handle, proof, setting, publicOrganization }: NewAccount & OwnAccount,
  ): Promise<void> => {
    const organization = await homeOf(call.tx, identity, { publicOrganization });
    if (organization === undefined || !(await mayMakeAccounts(call.tx, setting, organization))) throw noAccounts();
    if ((await findAccount(call.tx, { identity })) !== undefined) throw alreadyExists("moorage.iam.v2.Account", name);
    const provider = await ensureAccountsProvider(call, organization);
    requireSecond(provider.secondFactor, proof);
    await requireFreeName(call, provider.uid, name);
    // What is left of an account whose provider was removed.
    await call.tx.deleteFrom("accounts").where("identity", "=", identity).execute();
    await removeProofs(call, identity);
    await call.tx
      .insertInto("accounts")
      .values(accountRow(call, { identity, provider: provider.uid, name, handle, proof }))
      .execute();
    if (proof.kind === "passkey" && !(await insertPasskey(call, identity, proof))) throw takenPasskey();
    await noteChange(
      call,
      { identity, provider: provider.uid, subject: "" },
      { made: "account", by: proof.kind, session },
    );
  },
);

/**
 * Uses up a recovery link: what proved the account before ends, with all its sessions and personal tokens, and the new
 * proof signs in.
 * Undefined when the link is not good, its account is gone, or its maker could not make it any more.
 */
export const recoverAccount = command(
  "auth.recoverAccount",
  async (
    call: Call,
    { hash, proof, granting }: { hash: string; proof: NewProof; granting: Granting },
    { admins }: { admins: readonly string[] },
  ): Promise<Who | undefined> => {
    // One statement, so that of two that race one gets the row.
    const link = await call.tx
      .deleteFrom("recovery_links")
      .where("hash", "=", hash)
      .returning(["identity", "creator", "expire_time"])
      .executeTakeFirst();
    if (link === undefined || link.expire_time <= call.nowMs) return undefined;
    const account = await findAccount(call.tx, link);
    if (account === undefined || !(await mayStillRecover(call, link, account.provider, admins))) return undefined;
    requireSecond(account.secondFactor, proof);
    const { identity } = account;
    await removeProofs(call, identity);
    await signOutElsewhere(call, identity);
    // Whoever had got into the account may have made some.
    await call.tx.deleteFrom("personal_tokens").where("identity", "=", identity).execute();
    await call.tx
      .updateTable("accounts")
      .set({ ...accountRow(call, { ...account, proof }), create_time: account.create_time })
      .where("identity", "=", identity)
      .execute();
    if (proof.kind === "passkey" && !(await insertPasskey(call, identity, proof))) throw takenPasskey();
    await noteChange(call, account, { recovered: "true", by: proof.kind, link: link.creator });
    return granted(call, identity, granting);
  },
);

/**
 * Whether who made a recovery link could make it now: a right of theirs may have ended, they may be gone, and the
 * person may hold more by now.
 */
async function mayStillRecover(
  call: Call,
  { creator, identity }: { creator: string; identity: string },
  provider: string,
  admins: readonly string[],
): Promise<boolean> {
  if (admins.includes(identity) && !admins.includes(creator)) return false;
  if (!(await call.heldBy(creator, Capability.CAP_IAM_IDENTITY_UPDATE, provider))) return false;
  return await holdsAllOf(call, creator, identity);
}

/** Adds a passkey to an account, or changes its password, in a session in which it was proved. */
export const changeProof = command(
  "auth.changeProof",
  async (
    call: Call,
    { identity, session, proof }: { identity: string; session: string; proof: NewProof },
  ): Promise<boolean> => {
    const account = await findAccount(call.tx, { identity });
    if (account === undefined) return false;
    if (proof.kind === "passkey") {
      if (!(await insertPasskey(call, identity, proof))) throw takenPasskey();
    } else {
      if (account.totp === "") requireSecond(account.secondFactor, proof);
      await setPassword(call, identity, proof);
      await signOutElsewhere(call, identity, session);
    }
    await noteChange(call, account, { changed: proof.kind, session });
    return true;
  },
);

/** The proof of an account that had no identity yet, with its secret sealed for the identity. */
function sealedFor(identity: string, proof: NewProof, secrets: Secrets): NewProof {
  if (proof.kind === "passkey" || proof.totp === undefined) return proof;
  const secret = secrets.seal(secrets.open(proof.totp.secret, NEW_ACCOUNT), accountPlace(identity));
  return { ...proof, totp: { ...proof.totp, secret } };
}

async function granted(call: Call, identity: string, granting: Granting): Promise<Who> {
  const account = await findAccount(call.tx, { identity });
  if (account === undefined) throw new Error("an account that was just made is there");
  await signInAs(call, account, granting);
  return { identity, name: account.identityName, email: account.email };
}

/** Writes the audit entry of a change, for the organization of the account's provider. */
export async function noteChange(
  call: Call,
  account: Pick<Account, "identity" | "provider" | "subject">,
  details: Record<string, string>,
): Promise<void> {
  await audit(call, { method: CHANGE_ACCOUNT, resource: account.provider, ...actorOf(account), details });
}

async function requireFreeName(call: Call, provider: string, name: string): Promise<void> {
  const taken = await call.tx
    .selectFrom("accounts")
    .select("identity")
    .where("provider", "=", provider)
    .where("name", "=", name)
    .executeTakeFirst();
  if (taken !== undefined) throw alreadyExists("moorage.iam.v2.Account", name);
}

/** Throws FAILED_PRECONDITION for a password without an app where the organization asks for both. */
function requireSecond(isNeeded: boolean, proof: NewProof): void {
  if (isNeeded && proof.kind === "password" && proof.totp === undefined) throw secondFactorNeeded();
}

function takenPasskey(): Error {
  return failedPrecondition({
    type: "PASSKEY_NOT_ADDED",
    subject: "passkey",
    description: "the passkey is there already, or the account has as many as it can have",
  });
}
