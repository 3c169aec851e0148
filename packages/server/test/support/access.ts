import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, type MessageInitShape, toJsonString } from "@bufbuild/protobuf";
import { type Identity, IdentitySchema } from "@moorage/api";
import {
  type Access,
  createAccess,
  createSecurityTokenService,
  createSigningKey,
  createStsEndpoints,
  rotateSigningKey,
  type SecurityTokenService,
} from "../../src/auth/index.ts";
import { createSecrets } from "../../src/lib/secrets.ts";
import { newUid } from "../../src/lib/uid.ts";
import { commandContext, commandNamed } from "../../src/runtime/commands.ts";
import type { CommandWriter } from "../../src/core/transactor.ts";
import type { AuditEvent } from "../../src/audit/index.ts";
import { ANONYMOUS, type CallData } from "../../src/core/call.ts";
import { Code, MoorageError } from "../../src/errors.ts";
import type { Database } from "../../src/store/index.ts";
import { dropDatabase, openTestStore } from "./database.ts";

/** Authentication and the token exchange on a real database, behind a real socket, with a clock that tests move. */
export interface AccessHouse extends Access {
  baseUrl: string;
  registryAudience: string;
  db: Database;
  clock: { nowMs: number };
  service: SecurityTokenService;
  data(): CallData;
  addIdentity(relationship: MessageInitShape<typeof IdentitySchema>["relationship"], parent?: string): Promise<string>;
  rotate(): Promise<string>;
  /** What was given to the audit log, which audit.test.ts sees written. */
  noted: AuditEvent[];
  close(): Promise<void>;
}

const STATUS: Record<number, number> = { 3: 400, 7: 403, 14: 503, 16: 401 };

export async function openAccess({ allowPrivateNetwork = true } = {}): Promise<AccessHouse> {
  const folder = mkdtempSync(join(tmpdir(), "moorage-access-"));
  const { store, db, close: closeStore } = await openTestStore(folder);
  const { reader } = store;
  const secrets = createSecrets([randomBytes(32)]);
  const context = commandContext({ methods: new Map(), admins: [], secrets });
  const clock = { nowMs: Date.now() };
  const data = (): CallData => ({
    caller: ANONYMOUS,
    requestId: "test",
    nowMs: clock.nowMs,
    remoteAddress: "127.0.0.1",
    userAgent: "",
  });
  const writer: CommandWriter = {
    async write({ name }, callData, input) {
      const { run } = commandNamed(name);
      const call = { ...callData, may: async () => false, visible: async () => [], heldBy: async () => false };
      // The command of that name takes the input, and gives the answer.
      return (await store.transact((tx) => run({ ...call, tx, emit: () => "" }, input as never, context))) as never;
    },
  };
  await store.transact((tx) => createSigningKey(tx, secrets, clock.nowMs));

  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const baseUrl = `http://127.0.0.1:${port}`;
  const registryAudience = `127.0.0.1:${port}`;
  const config = { baseUrl, registryAudience, accessTokenTtlMs: 3_600_000, allowPrivateNetwork };
  const noted: AuditEvent[] = [];
  const access = createAccess({
    config,
    reader,
    writer,
    secrets,
    auditor: { note: (_data, event) => void noted.push(event) },
    log: { info() {} },
  });
  const handlers = createStsEndpoints({
    config,
    clock: { nowMs: () => clock.nowMs },
    keyring: access.keyring,
    exchanger: access.exchanger,
    grants: access.signIn.grants,
    answerError(response, error, _data, status) {
      const known = error instanceof MoorageError ? error : new MoorageError(Code.Internal, String(error));
      response.statusCode = status ?? STATUS[known.code] ?? 500;
      // The only server here speaks HTTP/1.1.
      (response as ServerResponse).end(
        JSON.stringify({ code: known.code, message: known.message, fields: known.details.fieldViolations }),
      );
    },
  });
  server.on("request", (request, response) => {
    const handle = handlers[new URL(request.url ?? "/", baseUrl).pathname];
    if (handle) void handle(request, response, { requestId: "test", remoteAddress: "127.0.0.1" });
    else response.writeHead(404).end();
  });

  return {
    ...access,
    baseUrl,
    registryAudience,
    db,
    clock,
    data,
    noted,
    service: createSecurityTokenService(access.exchanger),
    async addIdentity(relationship, parent = "") {
      const identity = create(IdentitySchema, { relationship });
      const uid = newUid(parent);
      await db
        .insertInto("identities")
        .values({
          uid,
          parent,
          name: "ci",
          description: "",
          email: "",
          email_unverified: "",
          company: "",
          last_seen_time: null,
          create_time: clock.nowMs,
          update_time: clock.nowMs,
          relationship_type: 1,
          relationship: identity.relationship.case === undefined ? "" : toJsonString(IdentitySchema, identity),
          ...exact(identity),
        })
        .execute();
      return uid;
    },
    async rotate() {
      const kid = await store.transact((tx) => rotateSigningKey(tx, secrets, clock.nowMs));
      access.keyring.refresh();
      return kid;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await closeStore();
      await dropDatabase(folder);
      rmSync(folder, { recursive: true });
    },
  };
}

function exact({ relationship }: Identity): { issuer: string; subject: string } {
  if (relationship.case === "staticKeys")
    return { issuer: relationship.value.issuer, subject: relationship.value.subject };
  if (relationship.case !== "claimMatch") return { issuer: "", subject: "" };
  const { iss, sub } = relationship.value;
  return { issuer: iss.case === "issuer" ? iss.value : "", subject: sub.case === "subject" ? sub.value : "" };
}
