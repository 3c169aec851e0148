import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { readBootstrap } from "../../../src/index.ts";
import { databaseEnv, dropDatabase, ENGINE } from "../database.ts";
import { UNLIMITED } from "../no-rate-limits.ts";
import { startProcess } from "../processes.ts";
import type { MintRequest } from "../../../../platform/src/auth/index.ts";
import { type Connection, openConnection } from "./connections.ts";
import { startUncached, type UncachedServer } from "./uncached-process.ts";

const REPLICAS = 3;
const WORKERS = 2;
/** Connections to each process, so that it has more than one request under way. */
const EACH = 2;
const BASE_URL = "http://moorage.test";

/** An installation that several processes serve, and beside them the server that keeps nothing. */
export interface House {
  /** The connections to each process. On SQLite the processes accept connections in turn. */
  processes: Connection[][];
  uncached: UncachedServer;
  /** The owner of everything. */
  owner: string;
  organization: { uid: string; name: string };
  open: { uid: string; name: string };
  /** A token of the identity for the platform or the registry, as an Authorization header. */
  tokenOf(audience: "platform" | "registry", identity: string): Promise<string>;
  /** A registry token that covers pulling from the repository alone; of nobody for an empty identity. */
  pullToken(identity: string, repository: string): Promise<string>;
  /** Lines of the servers' logs that should not be there. */
  complaints(): string[];
}

/** `program`: that of the servers, in place of the usual one; `env`: further variables of theirs. */
interface HouseOptions {
  program?: string;
  env?: Record<string, string>;
}

/**
 * Three replicas on PostgreSQL; two workers of one server on SQLite. The replicas share the blobs' folder, as they
 * would share a bucket.
 */
export async function startHouse(t: TestContext, { program, env = {} }: HouseOptions = {}): Promise<House> {
  const count = ENGINE === "postgres" ? REPLICAS : 1;
  const folders = Array.from({ length: count }, () => mkdtempSync(join(tmpdir(), "moorage-fresh-")));
  const [first = "", ...others] = folders;
  for (const shared of ["blobs", "uploads"]) {
    mkdirSync(join(first, shared));
    for (const folder of others) symlinkSync(join(first, shared), join(folder, shared));
  }
  const settings = {
    ...(await databaseEnv(first)),
    ...UNLIMITED,
    MOORAGE_BASE_URL: BASE_URL,
    MOORAGE_SECRET_KEY: Buffer.alloc(32, 5).toString("base64"),
    MOORAGE_WORKERS: String(ENGINE === "postgres" ? 1 : WORKERS),
    MOORAGE_LOG_LEVEL: "warn",
    // When tags were last pulled is written in the background, which may be between two answers that are compared.
    MOORAGE_PULLS_RETENTION: "0",
  };
  const envOf = (folder: string): Record<string, string> => ({ ...settings, MOORAGE_DATA_DIR: folder });
  const servers = await Promise.all(
    folders.map((folder) => startProcess(t, { ...envOf(folder), ...env }, undefined, program)),
  );
  const connections = servers.flatMap(({ port }, at) =>
    Array.from({ length: ENGINE === "postgres" ? EACH : EACH * WORKERS }, (_, nth) =>
      openConnection(`connection ${nth + 1} to replica ${at + 1}`, port),
    ),
  );
  t.after(() => Promise.all(connections.map((connection) => connection.close())));
  const processes =
    ENGINE === "postgres"
      ? servers.map((_, at) => connections.slice(at * EACH, (at + 1) * EACH))
      : Array.from({ length: WORKERS }, (_, worker) => connections.filter((_, at) => at % WORKERS === worker));
  const uncached = await startUncached(envOf(first));
  t.after(() => uncached.close());
  // Hooks run in the order of their registration: all that writes there has ended by then.
  t.after(async () => {
    await dropDatabase(first);
    for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  });
  const { organization, publicOrganization: open, identity } = readBootstrap(first);
  const mint = async (request: Partial<MintRequest>): Promise<string> => {
    const whole = { type: "access" as const, identity: "", audiences: [REGISTRY], ttlMs: 3_600_000, nowMs: Date.now() };
    return `Bearer ${await uncached.mint({ ...whole, ...request })}`;
  };
  return {
    processes,
    uncached,
    owner: identity.uid,
    organization,
    open,
    tokenOf: (audience, uid) => mint({ identity: uid, audiences: [audience === "platform" ? BASE_URL : REGISTRY] }),
    pullToken: (uid, name) =>
      mint({ type: "registry", identity: uid, access: [{ type: "repository", name, actions: ["pull"] }] }),
    complaints: () => servers.flatMap(({ lines, errors }) => [...lines.map((line) => JSON.stringify(line)), ...errors]),
  };
}

const REGISTRY = new URL(BASE_URL).host;
