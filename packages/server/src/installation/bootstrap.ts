import { randomBytes } from "node:crypto";
import type { Config } from "@moorage/kernel/config";
import { isSealed, type Secrets } from "@moorage/kernel/lib/secrets";
import { addValues, type Database, putValue, type Store } from "@moorage/kernel/store";
import { createSigningKey } from "@moorage/platform/auth";
import { ensureBuiltInRoles, insertFirstIdentity, insertOrganization, setPublicGroups } from "@moorage/platform/iam";
import type { Bootstrap } from "./bootstrap-file.ts";
import { AREAS } from "../areas.ts";
import { requireFinished } from "./marker.ts";

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
  await setPublicGroups(tx, config.publicGroups);
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
  const identity = await insertFirstIdentity(tx, nowMs);
  const organization = (name: string): Promise<string> =>
    insertOrganization(tx, { name, owner: identity, ownerRole, nowMs });
  const made = {
    organization: {
      uid: await organization(config.organization),
      name: config.organization,
    },
    publicOrganization: {
      uid: await organization(config.publicOrganization),
      name: config.publicOrganization,
    },
    identity: { uid: identity },
  };
  await addValues(tx, {
    bootstrap: JSON.stringify(made),
    page_token_key: secrets.seal(key.toString("base64"), PAGE_TOKEN_KEY),
  });
  return { bootstrap: made, pageTokenKey: key, ownerRole };
}

/** Reseals what is sealed with an older secret key, and seals what is not sealed. */
export async function resealInstallation(tx: Database, secrets: Secrets): Promise<void> {
  for (const area of AREAS) await area.reseal?.(tx, secrets);
  const row = await tx
    .selectFrom("installation")
    .select("value")
    .where("key", "=", "page_token_key")
    .executeTakeFirst();
  if (row === undefined || secrets.isCurrent(row.value)) return;
  const text = openPageTokenKey(secrets, row.value).toString("base64");
  await putValue(tx, "page_token_key", secrets.seal(text, PAGE_TOKEN_KEY));
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
