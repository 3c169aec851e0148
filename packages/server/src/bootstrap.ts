import { randomBytes } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { OrgKind, OrgStatus } from "@moorage/api";
import { createSigningKey } from "./access/index.ts";
import { newUid } from "./base/uid.ts";
import type { Config } from "./config.ts";
import { ensureBuiltInRoles } from "./iam/index.ts";
import { addToAncestors, commitTogether, type Database, openWriter, takeName } from "./store/index.ts";

/** What the first start made; `<data>/bootstrap.json` holds the same for people and scripts. Source: issue "Operation". */
export interface Bootstrap {
  baseUrl: string;
  registryUrl: string;
  organization: { uid: string; name: string };
  publicOrganization: { uid: string; name: string };
  identity: { uid: string };
}

/** What the program itself needs to know of its installation. */
export interface Installation { bootstrap: Omit<Bootstrap, "baseUrl" | "registryUrl">; pageTokenKey: Uint8Array; ownerRole: string }

/** Makes what an empty database lacks, whole or not at all, and brings the built-in roles up to date. */
export async function ensureInstallation(path: string, config: Config, nowMs: number): Promise<Installation> {
  const { db, raw } = openWriter(path);
  try {
    return await new Promise<Installation>((resolve, reject) => {
      void commitTogether(db, raw, [{
        run: (tx) => install(tx, config, nowMs),
        settle: (result) => ("error" in result ? reject(result.error) : resolve(result.value as Installation)),
      }]);
    });
  } finally {
    raw.close();
  }
}

async function install(tx: Database, config: Config, nowMs: number): Promise<Installation> {
  const roles = await ensureBuiltInRoles(tx, nowMs);
  const ownerRole = roles.get("owner") ?? "";
  const rows = await tx.selectFrom("installation").selectAll().execute();
  const kept = new Map(rows.map(({ key, value }) => [key, value]));
  const bootstrap = kept.get("bootstrap");
  const pageTokenKey = kept.get("page_token_key");
  if (bootstrap !== undefined && pageTokenKey !== undefined) {
    return { bootstrap: await namesOfToday(tx, JSON.parse(bootstrap) as Installation["bootstrap"]), pageTokenKey: Buffer.from(pageTokenKey, "base64"), ownerRole };
  }
  const key = randomBytes(32);
  await createSigningKey(tx, nowMs);
  const identity = newUid("");
  await tx.insertInto("identities").values({
    uid: identity, parent: "", name: "owner", description: "made at the first start", email: "", email_unverified: "", company: "", relationship_type: 0, relationship: "",
    issuer: "", subject: "", last_seen_time: null, create_time: nowMs, update_time: nowMs,
  }).execute();
  const made = {
    organization: { uid: await organization(tx, config.organization, identity, ownerRole, nowMs), name: config.organization },
    publicOrganization: { uid: await organization(tx, config.publicOrganization, identity, ownerRole, nowMs), name: config.publicOrganization },
    identity: { uid: identity },
  };
  await tx.insertInto("installation").values([{ key: "bootstrap", value: JSON.stringify(made) }, { key: "page_token_key", value: key.toString("base64") }]).execute();
  return { bootstrap: made, pageTokenKey: key, ownerRole };
}

/** The organizations may have been renamed since. A deleted one keeps the name it was made with. */
async function namesOfToday(tx: Database, made: Installation["bootstrap"]): Promise<Installation["bootstrap"]> {
  const named = async ({ uid, name }: { uid: string; name: string }) => {
    const found = await tx.selectFrom("groups").select("name").where("uid", "=", uid).executeTakeFirst();
    return { uid, name: found?.name ?? name };
  };
  return { ...made, organization: await named(made.organization), publicOrganization: await named(made.publicOrganization) };
}

async function organization(tx: Database, name: string, owner: string, ownerRole: string, nowMs: number): Promise<string> {
  const uid = newUid("");
  await takeName(tx, "", name, uid);
  await tx.insertInto("groups").values({
    uid, parent: "", name, description: "", verified: 0, kind: OrgKind.ORG_KIND_UNSPECIFIED, status: OrgStatus.READY, resource_limits: "{}", create_time: nowMs, update_time: nowMs,
  }).execute();
  await addToAncestors(tx, "groups", uid, name);
  await tx.insertInto("role_bindings").values({ uid: newUid(uid), parent: uid, identity_uid: owner, role_uid: ownerRole, create_time: nowMs }).execute();
  return uid;
}

function fileOf(dataDir: string): string {
  return join(dataDir, "bootstrap.json");
}

/** Writes `bootstrap.json` for its owner alone, with the URLs of this start. */
export function writeBootstrap(dataDir: string, bootstrap: Bootstrap): void {
  const file = fileOf(dataDir);
  writeFileSync(`${file}.new`, `${JSON.stringify(bootstrap, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

export function readBootstrap(dataDir: string): Bootstrap {
  return JSON.parse(readFileSync(fileOf(dataDir), "utf8")) as Bootstrap;
}
