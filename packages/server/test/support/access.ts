import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, type MessageInitShape, toJsonString } from "@bufbuild/protobuf";
import { type Identity, IdentitySchema } from "@moorage/api";
import {
  type Access,
  createSecurityTokenService,
  rotateSigningKey,
  type SecurityTokenService,
} from "../../../platform/src/auth/index.ts";
import type { AuditEvent } from "../../../kernel/src/audit/index.ts";
import { ANONYMOUS, type CallData, type Caller } from "../../../kernel/src/core/call.ts";
import { newUid } from "../../../kernel/src/lib/uid.ts";
import type { Database } from "../../../kernel/src/store/index.ts";
import { openComposition } from "./composition.ts";
import { dropDatabase } from "./database.ts";

/** Authentication and the token exchange of a server, with a clock that tests move. */
export interface AccessHouse extends Omit<Access, "authenticate"> {
  authenticate(...asked: Parameters<Access["authenticate"]>): Promise<Caller>;
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

/** `env`: settings beside those of every test. `expected`: messages of errors that the test has the server log. */
export async function openAccess({
  allowPrivateNetwork = true,
  env = {} as Record<string, string>,
  expected = [] as readonly string[],
} = {}): Promise<AccessHouse> {
  const folder = mkdtempSync(join(tmpdir(), "moorage-access-"));
  const clock = { nowMs: Date.now() };
  const composition = await openComposition(
    folder,
    { MOORAGE_ALLOW_PRIVATE_NETWORK: allowPrivateNetwork ? "1" : "0", ...env },
    { clock: { nowMs: () => clock.nowMs }, expected },
  );
  const { access, auditor, config, db, secrets, store } = composition;
  const noted: AuditEvent[] = [];
  const { note } = auditor;
  auditor.note = (data, event) => {
    noted.push(event);
    note(data, event);
  };
  return {
    ...access,
    authenticate: async (...asked) => await access.authenticate(...asked),
    baseUrl: config.baseUrl,
    registryAudience: config.registryAudience,
    db,
    clock,
    noted,
    service: createSecurityTokenService(access.exchanger),
    data: () => ({
      caller: ANONYMOUS,
      requestId: "test",
      nowMs: clock.nowMs,
      remoteAddress: "127.0.0.1",
      userAgent: "",
    }),
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
      await composition[Symbol.asyncDispose]();
      await dropDatabase(folder);
      rmSync(folder, { recursive: true, maxRetries: 10 });
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
