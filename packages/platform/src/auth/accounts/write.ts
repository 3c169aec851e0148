import { audit } from "@moorage/kernel/audit";
import type { Actor, Call } from "@moorage/kernel/core/call";
import { networkOf } from "@moorage/kernel/lib/network";
import type { Row } from "@moorage/kernel/store";
import { ACCOUNTS_ISSUER, noteIdentitySeen, personOf, type SignIn, signInPerson } from "../../iam/index.ts";
import { deleteExcess } from "../expiry.ts";
import { type Outcome, storeOutcome } from "../sign-in/flow-commands.ts";
import type { Narrowed } from "../sign-in/flow.ts";
import { hashOf } from "../sign-in/secrets.ts";
import { callerText } from "../tokens/refresh.ts";
import type { Account } from "./rows.ts";
import type { NewPasskey } from "./webauthn.ts";

/** What somebody proves an account by from now on. `totp`: sealed for accountPlace of `identity`. */
export type NewProof =
  | { kind: "password"; hash: string; totp?: { secret: string; step: number } }
  | { kind: "passkey"; passkey: NewPasskey; label: string };

/** What a sign-in with an account gives, and to whom. */
export interface Granting {
  audience: string;
  narrowed?: Narrowed;
  client?: string;
  outcome: Outcome;
  /** The hash of the browser's cookie, so that it is known the next time. */
  browserHash: string;
}

const MAX_NETWORKS = 8;
const MAX_BROWSERS = 20;
const BROWSER_TTL_MS = 365 * 86_400_000;
/** An account's passkeys. */
const MAX_PASSKEYS = 20;

/** The audit log's method for changes of what an account is proved by. */
export const CHANGE_ACCOUNT = "auth.changeAccount";

/** Who the account is, for events and the audit log. */
export function actorOf({ identity, subject }: Pick<Account, "identity" | "subject">): Actor {
  return { identity, act: subject === "" ? {} : { iss: ACCOUNTS_ISSUER, sub: subject } };
}

/** The person of an account, as an ID token would name it. */
export function personOfAccount(provider: string, subject: string, name: string): SignIn {
  const claims = { sub: subject, name, ...(name.includes("@") && { email: name, email_verified: false }) };
  const person = personOf({ correlationRule: 0, groupsClaim: "" }, claims);
  if (person === undefined) throw new Error("an account has a subject");
  return { ...person, provider, issuer: ACCOUNTS_ISSUER, clientId: "", groupsUntilMs: 0 };
}

/**
 * Signs the person in: notes it on the identity, where and in which browser it was, and stores what the sign-in gives.
 * False when a device no longer waits.
 */
export async function signInAs(
  call: Call,
  account: Account,
  { audience, narrowed, client, outcome, browserHash }: Granting,
): Promise<boolean> {
  const { identity, personProvider, provider, subject, relationship, name } = account;
  const { act } = actorOf(account);
  if (personProvider !== "") await signInPerson(call, personOfAccount(provider, subject, name));
  else {
    await noteIdentitySeen(call.tx, identity, call.nowMs);
    await audit(call, { method: "iam.signIn", resource: provider, identity, act, details: { by: "account" } });
  }
  const network = networkOf(call.remoteAddress);
  const networks = [network, ...account.networks.filter((one) => one !== network)].slice(0, MAX_NETWORKS);
  await call.tx
    .updateTable("accounts")
    .set({ networks: JSON.stringify(networks) })
    .where("identity", "=", identity)
    .execute();
  await rememberBrowser(call, identity, browserHash);
  const grant = {
    identity,
    audiences: [audience],
    ...(act["sub"] !== undefined && { act: { ...act } }),
    ...narrowed,
    ...(client !== undefined && { client }),
  };
  return storeOutcome(call, outcome, identity, callerText(grant, relationship));
}

/** The hash under which a browser is known for an identity: the same cookie is of no use for another one. */
export function knownBrowserHash(cookieHash: string, identity: string): string {
  return hashOf(`known browser ${cookieHash} ${identity}`);
}

async function rememberBrowser({ tx, nowMs }: Call, identity: string, cookieHash: string): Promise<void> {
  const hash = knownBrowserHash(cookieHash, identity);
  await tx.deleteFrom("known_browsers").where("hash", "=", hash).execute();
  await deleteExcess(tx, "known_browsers", { identity, most: MAX_BROWSERS, nowMs });
  await tx
    .insertInto("known_browsers")
    .values({ hash, identity, create_time: nowMs, expire_time: nowMs + BROWSER_TTL_MS })
    .execute();
}

/** The columns of an account that has only this proof. */
export function accountRow(
  { nowMs }: Call,
  {
    identity,
    provider,
    name,
    handle,
    proof,
  }: Pick<Row<"accounts">, "identity" | "provider" | "name" | "handle"> & { proof: NewProof },
): Row<"accounts"> {
  return {
    identity,
    provider,
    name,
    handle,
    networks: "[]",
    create_time: nowMs,
    update_time: nowMs,
    ...passwordColumns(proof),
  };
}

function passwordColumns(proof: NewProof): Pick<Row<"accounts">, "password" | "totp" | "totp_step"> {
  if (proof.kind === "passkey") return { password: "", totp: "", totp_step: 0 };
  return { password: proof.hash, totp: proof.totp?.secret ?? "", totp_step: proof.totp?.step ?? 0 };
}

/** Adds the passkey. False when it is there already, or the account has as many as it may have. */
export async function insertPasskey(
  { tx, nowMs }: Call,
  identity: string,
  { passkey, label }: Extract<NewProof, { kind: "passkey" }>,
): Promise<boolean> {
  const known = await tx.selectFrom("passkeys").select("id").where("id", "=", passkey.id).executeTakeFirst();
  const { n } = await tx
    .selectFrom("passkeys")
    .select((query) => query.fn.countAll<number>().as("n"))
    .where("identity", "=", identity)
    .executeTakeFirstOrThrow();
  if (known !== undefined || Number(n) >= MAX_PASSKEYS) return false;
  await tx
    .insertInto("passkeys")
    .values({
      ...passkey,
      identity,
      key_id: hashOf(passkey.id).slice(0, 16),
      name: label,
      create_time: nowMs,
      used_time: null,
    })
    .execute();
  return true;
}

/** Signs the identity out everywhere, but in the session named: its access tokens of programs end by themselves. */
export async function signOutElsewhere({ tx }: Call, identity: string, keptSession = ""): Promise<void> {
  await tx.deleteFrom("sessions").where("identity", "=", identity).where("uid", "!=", keptSession).execute();
  for (const table of [
    "refresh_tokens",
    "sign_in_links",
    "authorization_codes",
    "device_codes",
    "known_browsers",
  ] as const)
    await tx.deleteFrom(table).where("identity", "=", identity).execute();
}

/** Removes what an account is proved by beside its password, and its recovery links. */
export async function removeProofs({ tx }: Pick<Call, "tx">, identity: string): Promise<void> {
  for (const table of ["passkeys", "recovery_codes", "recovery_links"] as const)
    await tx.deleteFrom(table).where("identity", "=", identity).execute();
}

/** Changes the account's password, and with it the authenticator app where a new one is given. */
export async function setPassword(
  { tx, nowMs }: Call,
  identity: string,
  proof: Extract<NewProof, { kind: "password" }>,
): Promise<void> {
  const { password, totp, totp_step } = passwordColumns(proof);
  await tx
    .updateTable("accounts")
    .set({ password, update_time: nowMs, ...(proof.totp && { totp, totp_step }) })
    .where("identity", "=", identity)
    .execute();
}
