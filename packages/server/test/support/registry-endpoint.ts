import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { pathToFileURL } from "node:url";
import { Capability } from "@moorage/api";
import { grantsOf, rightsOf } from "../../src/auth/permissions/rights.ts";
import { createSecrets } from "../../src/lib/secrets.ts";
import { commandContext, commandNamed } from "../../src/runtime/commands.ts";
import { newUid } from "../../src/lib/uid.ts";
import { openFilesystemBlobs } from "../../src/blobs/index.ts";
import type { Call, Caller, CallData } from "../../src/core/call.ts";
import type { RegistryConfig, RegistryDeps } from "../../src/oci/request.ts";
import { createPullCache } from "../../src/oci/pulls/cache.ts";
import { registryHandler } from "../../src/oci/router.ts";
import { permissionDenied, unauthenticated } from "../../src/errors.ts";
import type { Database } from "../../src/store/index.ts";
import type { Transactor } from "../../src/core/transactor.ts";
import { statusJson } from "../../src/transport/status.ts";
import { openTestStore } from "./database.ts";

/** The registry's handler alone: real sockets, files and database; the caller is named by `bearer`, without a token. */
export interface Endpoint {
  url: string;
  deps: RegistryDeps;
  db: Database;
  /** Moves the clock, in milliseconds. */
  advance(byMs: number): void;
  /** How many clients are connected. */
  connections(): Promise<number>;
  close(): Promise<void>;
}

/** The Authorization header that names the caller. `audience`: another than the registry's. */
export function bearer(caller: Partial<Caller>, audience = "registry"): string {
  return `Bearer ${Buffer.from(JSON.stringify({ caller: { identity: "", ...caller }, audience })).toString("base64url")}`;
}

/** Serves the registry from a folder, a new one or one that was used before. */
export async function openHandler(folder: string, settings: Partial<RegistryConfig> = {}): Promise<Endpoint> {
  const { store, db, close: closeStore } = await openTestStore(folder);
  let shiftMs = 0;
  const callOn = async (tx: Database, data: CallData): Promise<Call> => {
    const rights = rightsOf(data.caller, await grantsOf(tx, data.caller.identity));
    return {
      ...data,
      tx,
      may: async (capability, uid) => rights.may(capability, uid),
      visible: async (...capabilities) => rights.visible(capabilities),
      heldBy: async (identity, capability, uid) =>
        rightsOf({ identity }, await grantsOf(tx, identity)).may(capability, uid),
      emit: () => "",
    };
  };
  const context = commandContext({ methods: new Map(), admins: [], secrets: createSecrets([randomBytes(32)]) });
  const transactor: Transactor = {
    read: async (data, work) => work(await callOn(store.reader, data)),
    async write({ name }, data, input) {
      const { run } = commandNamed(name);
      // The command of that name takes the input, and gives the answer.
      return (await store.transact(async (tx) =>
        structuredClone(await run(await callOn(tx, structuredClone(data)), structuredClone(input) as never, context)),
      )) as never;
    },
  };
  const deps: RegistryDeps = {
    pulls: createPullCache(store.reader, () => false),
    transactor,
    statusJson,
    auditor: { note: () => undefined },
    blobs: await openFilesystemBlobs(folder),
    clock: { nowMs: () => Date.now() + shiftMs },
    log: { error: (fields, message) => console.error(message, fields), info: () => undefined },
    async authenticate(authorization) {
      const text = /^Bearer (\S+)$/.exec(authorization ?? "")?.[1];
      if (text === undefined || text === "broken") throw unauthenticated("the token is not valid");
      const token = JSON.parse(Buffer.from(text, "base64url").toString()) as { caller: Caller; audience: string };
      if (token.audience !== "registry") throw permissionDenied("the token is for another audience");
      return token.caller;
    },
    config: {
      registryUrl: "http://registry.test",
      registryAudience: "registry.test",
      historySegments: ["_service"],
      freeTierTags: ["latest", "latest-dev"],
      publicOrganization: "public",
      errorDomain: "moorage.dev",
      maxManifestBytes: 4_194_304,
      uploadTtlMs: 86_400_000,
      ...settings,
    },
  };
  const handler = registryHandler(deps);
  const server = createServer((req, res) => {
    void handler.handle(req, res, {
      requestId: randomBytes(8).toString("hex"),
      remoteAddress: req.socket.remoteAddress ?? "",
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    deps,
    db,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    advance: (byMs) => {
      shiftMs += byMs;
    },
    connections: () =>
      new Promise((resolve, reject) =>
        server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
      ),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await closeStore();
    },
  };
}

/** A root group; its uid. */
export async function makeGroup(db: Database, name: string): Promise<string> {
  const uid = newUid("");
  const times = { create_time: 0, update_time: 0 };
  await db
    .insertInto("groups")
    .values({
      uid,
      parent: "",
      name,
      description: "",
      verified: 0,
      kind: 0,
      status: 0,
      resource_limits: "{}",
      ...times,
    })
    .execute();
  await db.insertInto("group_names").values({ parent: "", name, uid }).execute();
  return uid;
}

const ALL = Object.values(Capability).filter((value) => typeof value === "number");

/** An identity that holds the capabilities on the group; its uid. All of them by default. */
export async function makeIdentity(db: Database, group: string, capabilities = ALL): Promise<string> {
  const [identity, role] = [newUid(""), newUid("")];
  const times = { create_time: 0, update_time: 0 };
  await db
    .insertInto("roles")
    .values({
      uid: role,
      parent: "",
      name: role,
      description: "",
      capabilities: JSON.stringify(capabilities),
      ...times,
    })
    .execute();
  await db
    .insertInto("role_bindings")
    .values({ uid: newUid(group), parent: group, identity_uid: identity, role_uid: role, create_time: 0 })
    .execute();
  return identity;
}

// Run as a program it is a process that can be killed: the folder is its argument, the URL what it prints.
if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const endpoint = await openHandler(process.argv[2] ?? "");
  process.stdout.write(`${endpoint.url}\n`);
}
