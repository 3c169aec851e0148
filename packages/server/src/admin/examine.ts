import { existsSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { parseS3Url } from "@moorage/kernel/blobs";
import type { Config } from "@moorage/kernel/config";
import { databasePath } from "@moorage/kernel/lib/database-path";
import { describeFault, faultIn } from "@moorage/kernel/lib/storage-fault";
import { describeDamage, isDamage, NEWEST_VERSION, openStore, placeOf, type Store } from "@moorage/kernel/store";
import { servingProcesses } from "@moorage/platform/processes";
import { sql } from "kysely";
import { openBlobsOf } from "../installation/stores.ts";

/** What an examination found about one thing. */
export interface Check {
  name: string;
  /** `not_checked`: nothing is known, and the message says why. */
  state: "ok" | "warning" | "failed" | "not_checked";
  message: string;
  /** What to do, where something is wrong. */
  fix?: string;
}

const PATIENCE_MS = 5_000;
// Reading a larger file whole takes longer than somebody waits for.
const MAX_CHECKED_BYTES = 256 * 2 ** 20;

/** What a check looks at, and what to do when it cannot be looked at. */
export interface CheckSubject {
  what?: string;
  fix: string;
}

const DATABASE_FIX = "start PostgreSQL, or correct MOORAGE_DATABASE_URL and MOORAGE_DATABASE_TLS (docs/settings.md)";

/** The database of the settings: its file, or its host, port, name and user. */
export function subjectOfDatabase({ databaseUrl, dataDir }: Config): CheckSubject {
  return databaseUrl === ""
    ? { what: databasePath(dataDir), fix: "look at the file system of the data folder" }
    : { what: placeOf(databaseUrl), fix: DATABASE_FIX };
}

/** Looks at the database, without changing anything. `offsetMs`: how much its clock is ahead of this machine's. */
export async function examineDatabase(config: Config): Promise<{ checks: Check[]; offsetMs?: number }> {
  if (config.databaseUrl === "") return { checks: examineFile(databasePath(config.dataDir)) };
  const place = placeOf(config.databaseUrl);
  const store = await openStore({ ...config, databaseTimeoutMs: Math.min(config.databaseTimeoutMs, PATIENCE_MS) });
  try {
    const version = await store.version();
    const askedMs = Date.now();
    const { rows } = await sql<{
      ms: number;
    }>`select (extract(epoch from clock_timestamp()) * 1000)::bigint as ms`.execute(store.reader);
    const offsetMs = Math.round(Number(rows[0]?.ms) - (askedMs + Date.now()) / 2);
    return { checks: [ofVersion(version, place), await ofProcesses(store, version, Date.now() + offsetMs)], offsetMs };
  } finally {
    await store.close();
  }
}

function ofVersion(version: number, place: string): Check {
  const check = { name: "database", state: "ok", message: `${place}: schema version ${version}` } as const;
  if (version === NEWEST_VERSION) return check;
  if (version === 0)
    return { ...check, state: "warning", message: `${place}: empty`, fix: "the first moorage serve fills it" };
  const isNewer = version > NEWEST_VERSION;
  return {
    ...check,
    state: isNewer ? "failed" : "warning",
    message: `${place}: schema version ${version}, this program works with ${NEWEST_VERSION}`,
    fix: isNewer ? "use the newer moorage that migrated it" : "moorage migrate, or start the server",
  };
}

async function ofProcesses(store: Store, version: number, nowMs: number): Promise<Check> {
  const name = "replicas";
  if (version !== NEWEST_VERSION)
    return { name, state: "not_checked", message: "the database is of another version than this program" };
  const all = await servingProcesses(store.reader, nowMs);
  const versions = [...new Set(all.map((each) => `${each.version} (schema ${each.schema})`))];
  if (all.length === 0) return { name, state: "ok", message: "no process serves the installation now" };
  if (versions.length === 1) return { name, state: "ok", message: `${all.length}, all of version ${versions[0]}` };
  const fix = "end the update: all should be of one version";
  return { name, state: "warning", message: `${all.length} of several versions: ${versions.join(", ")}`, fix };
}

function examineFile(path: string): Check[] {
  const name = "database";
  if (!existsSync(path))
    return [{ name, state: "warning", message: `there is no ${path} yet`, fix: "the first moorage serve makes it" }];
  try {
    const database = new DatabaseSync(path, { readOnly: true, timeout: PATIENCE_MS });
    try {
      const { user_version: version } = database.prepare("pragma user_version").get() as { user_version: number };
      return [ofVersion(version, path), ofPages(database, path)];
    } finally {
      database.close();
    }
  } catch (error) {
    return [isDamage(error) ? damaged(path) : { name, state: "failed", message: `${path}: ${messageOf(error)}` }];
  }
}

function ofPages(database: DatabaseSync, path: string): Check {
  const name = "database pages";
  if (statSync(path).size > MAX_CHECKED_BYTES)
    return { name, state: "not_checked", message: "the file is large", fix: "moorage fsck reads all of it" };
  const [first] = database.prepare("pragma quick_check(1)").all() as { quick_check: string }[];
  return first?.quick_check === "ok"
    ? { name, state: "ok", message: "all pages can be read" }
    : { ...damaged(path), name };
}

function damaged(path: string): Check {
  const [message = "", ...fix] = describeDamage(path).split(": ");
  return { name: "database", state: "failed", message, fix: fix.join(": ") };
}

/** The bucket of the settings: its server, its name, what keys begin with, and whose credentials are used. */
export function subjectOfBucket({ blobsUrl }: Config): CheckSubject {
  const fix = "correct MOORAGE_BLOBS_URL or the credentials (docs/s3.md)";
  if (blobsUrl === "") return { fix };
  try {
    const { bucket, prefix, endpoint, region } = parseS3Url(blobsUrl);
    const key = process.env["AWS_ACCESS_KEY_ID"];
    const user = key === undefined || key === "" ? "credentials where AWS tools read them" : `access key ${key}`;
    const place = endpoint ?? (region === undefined ? "AWS" : `AWS in ${region}`);
    return { what: `${place} (bucket ${bucket}${prefix === "" ? "" : `, below ${prefix}`}, ${user})`, fix };
  } catch {
    // Its error says what is wrong with it.
    return { fix };
  }
}

/** Writes something small into the bucket. Nothing is checked of files in the data folder. */
export async function examineBucket(config: Config): Promise<Check[]> {
  if (config.blobsUrl === "") return [];
  const name = "bucket";
  const { what = "", fix } = subjectOfBucket(config);
  try {
    const blobs = await openBlobsOf(config);
    if (blobs.probe === undefined)
      return [{ name, state: "not_checked", message: `${what}: this store has nothing to attempt` }];
    await blobs.probe();
    return [{ name, state: "ok", message: `${what}: can be written to` }];
  } catch (error) {
    const fault = faultIn(error);
    const why = fault === undefined ? messageOf(error) : `${describeFault(fault)}: ${fault.detail ?? messageOf(error)}`;
    return [{ name, state: "failed", message: `${what}: ${why}`, fix }];
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
