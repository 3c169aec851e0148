import { randomBytes } from "node:crypto";
import { OrgKind, OrgStatus } from "@moorage/api/messages";
import type { Bootstrap } from "./bootstrap-file.ts";
import { createSigningKey, resealKeys } from "../auth/index.ts";
import { isSealed, type Secrets } from "../lib/secrets.ts";
import { newUid } from "../lib/uid.ts";
import type { Config } from "../config/index.ts";
import { resealSubscriptions } from "../events/index.ts";
import { ensureBuiltInRoles, resealProviders } from "../iam/index.ts";
import { requireFinished } from "./marker.ts";
import { resealMirrors } from "../registry/index.ts";
import { resealUpstreams } from "../libraries/index.ts";
import { resealScanners } from "../security/index.ts";
import { addToAncestors, type Database, type Store } from "../store/index.ts";

/** What the server needs to know about its installation. */
export interface Installation {
  bootstrap: Omit<Bootstrap, "baseUrl" | "registryUrl">;
  pageTokenKey: Uint8Array;
  ownerRole: string;
}

const PAGE_TOKEN_KEY = "installation:page_token_key";

/**
 * Creates what an empty database lacks in one transaction, brings the built-in roles up to date, and reseals secrets
 * with the current secret key. Throws a StoreError when an import into the database is unfinished.
 */
export function ensureInstallation(
  store: Store,
  secrets: Secrets,
  config: Config,
  nowMs: number,
): Promise<Installation> {
  return store.transact((tx) => install(tx, secrets, config, nowMs));
}

async function install(tx: Database, secrets: Secrets, config: Config, nowMs: number): Promise<Installation> {
  await requireFinished(tx);
  const roles = await ensureBuiltInRoles(tx, nowMs);
  const ownerRole = roles.get("owner") ?? "";
  const rows = await tx.selectFrom("installation").selectAll().execute();
  const stored = new Map(rows.map(({ key, value }) => [key, value]));
  const bootstrap = stored.get("bootstrap");
  const pageTokenKey = stored.get("page_token_key");
  if (bootstrap !== undefined && pageTokenKey !== undefined) {
    await resealInstallation(tx, secrets);
    return {
      bootstrap: await currentNames(tx, JSON.parse(bootstrap) as Installation["bootstrap"]),
      pageTokenKey: openPageTokenKey(secrets, pageTokenKey),
      ownerRole,
    };
  }
  const key = randomBytes(32);
  await createSigningKey(tx, secrets, nowMs);
  const identity = newUid("");
  await tx
    .insertInto("identities")
    .values({
      uid: identity,
      parent: "",
      name: "owner",
      description: "made at the first start",
      email: "",
      email_unverified: "",
      company: "",
      relationship_type: 0,
      relationship: "",
      issuer: "",
      subject: "",
      last_seen_time: null,
      create_time: nowMs,
      update_time: nowMs,
    })
    .execute();
  const made = {
    organization: {
      uid: await organization(tx, config.organization, identity, ownerRole, nowMs),
      name: config.organization,
    },
    publicOrganization: {
      uid: await organization(tx, config.publicOrganization, identity, ownerRole, nowMs),
      name: config.publicOrganization,
    },
    identity: { uid: identity },
  };
  await tx
    .insertInto("installation")
    .values([
      { key: "bootstrap", value: JSON.stringify(made) },
      { key: "page_token_key", value: secrets.seal(key.toString("base64"), PAGE_TOKEN_KEY) },
    ])
    .execute();
  return { bootstrap: made, pageTokenKey: key, ownerRole };
}

/** Reseals what is sealed with an older secret key, and seals what is not sealed. */
export async function resealInstallation(tx: Database, secrets: Secrets): Promise<void> {
  await resealKeys(tx, secrets);
  await resealMirrors(tx, secrets);
  await resealProviders(tx, secrets);
  await resealSubscriptions(tx, secrets);
  await resealScanners(tx, secrets);
  await resealUpstreams(tx, secrets);
  const row = await tx
    .selectFrom("installation")
    .select("value")
    .where("key", "=", "page_token_key")
    .executeTakeFirst();
  if (row === undefined || secrets.isCurrent(row.value)) return;
  const text = openPageTokenKey(secrets, row.value).toString("base64");
  await tx
    .updateTable("installation")
    .set({ value: secrets.seal(text, PAGE_TOKEN_KEY) })
    .where("key", "=", "page_token_key")
    .execute();
}

/** The key that signs page tokens, from its row. Throws a SecretError when it is sealed with another secret key. */
export function openPageTokenKey(secrets: Secrets, stored: string): Buffer {
  return Buffer.from(isSealed(stored) ? secrets.open(stored, PAGE_TOKEN_KEY) : stored, "base64");
}

/** The current names of the organizations, which may have been renamed. A deleted one keeps its first name. */
async function currentNames(tx: Database, made: Installation["bootstrap"]): Promise<Installation["bootstrap"]> {
  const named = async ({ uid, name }: { uid: string; name: string }) => {
    const found = await tx.selectFrom("groups").select("name").where("uid", "=", uid).executeTakeFirst();
    return { uid, name: found?.name ?? name };
  };
  return {
    ...made,
    organization: await named(made.organization),
    publicOrganization: await named(made.publicOrganization),
  };
}

async function organization(
  tx: Database,
  name: string,
  owner: string,
  ownerRole: string,
  nowMs: number,
): Promise<string> {
  const uid = newUid("");
  await tx
    .insertInto("groups")
    .values({
      uid,
      parent: "",
      name,
      description: "",
      verified: 0,
      kind: OrgKind.UNSPECIFIED,
      status: OrgStatus.READY,
      resource_limits: "{}",
      create_time: nowMs,
      update_time: nowMs,
    })
    .execute();
  await addToAncestors(tx, "groups", uid, name);
  await tx
    .insertInto("role_bindings")
    .values({ uid: newUid(uid), parent: uid, identity_uid: owner, role_uid: ownerRole, create_time: nowMs })
    .execute();
  return uid;
}
