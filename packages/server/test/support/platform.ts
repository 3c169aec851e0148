import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compose } from "../../src/boot/compose.ts";
import type { Work } from "../../../kernel/src/core/work.ts";
import { type Bootstrap, loadConfig, readBootstrap } from "../../src/index.ts";
import type { Database } from "../../../kernel/src/store/index.ts";
import { beginMigrated, databaseEnv, dropDatabase } from "./database.ts";
import { type Grpc, openGrpc } from "./grpc.ts";
import { checkAnswer } from "./openapi.ts";
import { UNLIMITED } from "./no-rate-limits.ts";
import { aliasedClient, aliasedDescriptors } from "./v1/aliases.ts";

/** A resource or a list as JSON has it; which fields are there depends on the message. */
export interface Json {
  uid: string;
  name: string;
  description: string;
  createTime: string;
  updateTime: string;
  nextPageToken: string;
  totalCount: string;
  skipped: number;
  code: number;
  message: string;
  details: Detail[];
  [key: string]: unknown;
}
/** One entry of an error's `details`. */
export interface Detail {
  "@type": string;
  reason?: string;
  domain?: string;
  metadata?: Record<string, string>;
  fieldViolations?: { field: string; description: string }[];
  violations?: { type: string; subject: string; description: string }[];
  resourceType?: string;
  resourceName?: string;
}
export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  body: Json;
}
/** `body` is sent as JSON; `raw` as it is. */
export interface Ask {
  token?: string | undefined;
  body?: unknown;
  raw?: string | Uint8Array;
  headers?: Record<string, string>;
}

/**
 * The whole server on a temporary folder, asked over real sockets as its clients ask it, with a clock that the test
 * moves.
 */
export interface Platform {
  url: string;
  bootstrap: Bootstrap;
  organization: string;
  owner: string;
  /** What the server was started with, for commands on its database. */
  settings: Record<string, string>;
  clock: { offsetMs: number; nowMs(): number };
  grpc: Grpc;
  /** A token of the identity, good now by the server's clock; the owner's without one. */
  token(
    identity?: string,
    options?: { ttlMs?: number; audience?: string; act?: Record<string, unknown>; client?: string },
  ): Promise<string>;
  /** Any request, its path sent as it stands. */
  call(method: string, path: string, ask?: Ask): Promise<Answer>;
  /** The owner's request, which must be answered with 200. */
  ok<T = Json>(method: string, path: string, body?: unknown): Promise<T>;
  /** The uid of a built-in role. */
  role(name: string): Promise<string>;
  group(parent: string, fields?: object): Promise<Json>;
  repo(parent: string, fields?: object): Promise<Json>;
  tag(repo: string, fields?: object): Promise<Json>;
  /**
   * A new subscription, whose sink takes no connections. Where private addresses are refused another sink must be
   * named.
   */
  subscription(group: string, fields?: object): Promise<Json>;
  /** A new identity below the group, holding the built-in role there, if one is named. */
  identity(parent: string, role?: string): Promise<string>;
  bind(group: string, identityUid: string, roleUid: string): Promise<string>;
  /** Gives the identity a verified e-mail address, as a sign-in through the provider does. */
  verifyEmail(identity: string, email: string, provider: string): Promise<void>;
  /** What is committed, past the API. */
  reader: Database;
  /** Wakes background work, for what a test wrote past the API. */
  wake(works: Iterable<Work>): void;
  /** Changes what is there, past the API. */
  transact<T>(work: (tx: Database) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** A package prefix of the `.proto` files that gRPC clients are compiled from; `moorage` without it. */
const ALIAS = process.env["MOORAGE_TEST_GRPC_ALIAS"];
const TTL_MS = 3_600_000;
const TIMEOUT_MS = 60_000;

/** The document that groups of every platform can accept; nothing waits for it. */
export const TERMS_DOCUMENT = "privacy";
const TERMS = [
  { id: TERMS_DOCUMENT, label: "Privacy notice", url: "https://moorage.example.com/privacy", required: false },
];

/** `terms`: the content of the file of documents. `startMs`: what the server's clock says at first; now without one. */
export async function startPlatform(
  env: Record<string, string> = {},
  terms: unknown = TERMS,
  startMs = Date.now(),
): Promise<Platform> {
  const dataDir = mkdtempSync(join(tmpdir(), "moorage-platform-"));
  // Never a whole second: one client writes such a time with milliseconds and another without, and texts are compared.
  const clock = {
    offsetMs: startMs - Date.now(),
    nowMs: () => {
      const nowMs = Date.now() + clock.offsetMs;
      return nowMs % 1_000 === 0 ? nowMs + 1 : nowMs;
    },
  };
  const termsFile = join(dataDir, "terms.json");
  writeFileSync(termsFile, JSON.stringify(terms));
  const settings: Record<string, string> = {
    MOORAGE_PORT: "0",
    ...UNLIMITED,
    MOORAGE_DATA_DIR: dataDir,
    MOORAGE_LOG_LEVEL: "silent",
    MOORAGE_TERMS_FILE: termsFile,
    ...(ALIAS !== undefined && { MOORAGE_GRPC_PACKAGE_ALIASES: ALIAS }),
    ...(await databaseEnv(dataDir)),
    ...env,
  };
  const config = loadConfig(settings);
  beginMigrated(dataDir);
  const server = await compose(config, { clock });
  await server.start();
  const bootstrap = readBootstrap(dataDir);
  const { baseUrl: url } = server.config;
  const { store } = server;
  const { tokens } = server.access;
  const grpc = ALIAS === undefined ? openGrpc(url) : aliasedClient(openGrpc(url), ALIAS, aliasedDescriptors(ALIAS));
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  const organization = bootstrap.organization.uid;
  const owner = bootstrap.identity.uid;
  let count = 0;
  const fresh = (): string => `made-${(count += 1)}`;

  const token: Platform["token"] = async (
    identity = owner,
    { ttlMs = TTL_MS, audience = bootstrap.baseUrl, ...act } = {},
  ) =>
    (await tokens.mint({ type: "access", identity, audiences: [audience], ttlMs, nowMs: clock.nowMs(), ...act })).token;
  let ownersToken: { token: string; offsetMs: number } | undefined;
  const ownToken = async (): Promise<string> => {
    if (ownersToken?.offsetMs !== clock.offsetMs) ownersToken = { token: await token(), offsetMs: clock.offsetMs };
    return ownersToken.token;
  };
  const call: Platform["call"] = async (method, path, { token, body, raw, headers = {} } = {}) => {
    const content = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const answer = await ask(url, agent, method, path, content, {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(content !== undefined && {
        "content-type": "application/json",
        "content-length": String(Buffer.byteLength(content)),
      }),
      ...headers,
    });
    checkAnswer(method, path, answer);
    return answer;
  };
  const ok: Platform["ok"] = async <T>(method: string, path: string, body?: unknown) => {
    const answer = await call(method, path, { token: await ownToken(), body });
    if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.body as T;
  };
  const made =
    (collection: string) =>
    (parent: string, fields: object = {}) =>
      ok("POST", `${collection}/${parent}`, { name: fresh(), ...fields });
  const tag = made("/registry/v2/tags");
  const identityOf = made("/iam/v2/identities");
  const role: Platform["role"] = async (name) =>
    (await rows(ok("GET", `/iam/v2/roles?name=${name}`), "roles"))[0]?.uid ?? "";
  const bind: Platform["bind"] = async (group, identityUid, roleUid) =>
    (await ok("POST", `/iam/v2/roleBindings/${group}`, { identityUid, roleUid })).uid;
  return {
    url,
    bootstrap,
    organization,
    owner,
    settings,
    clock,
    grpc,
    token,
    call,
    ok,
    role,
    bind,
    group: made("/iam/v2/groups"),
    repo: made("/registry/v2/repos"),
    reader: store.reader,
    transact: (work) => store.transact(work),
    wake: server.wakes.wake,
    verifyEmail: (uid, email, provider) =>
      store.transact(async (tx) => {
        const { issuer } = await tx
          .selectFrom("identity_providers")
          .select("issuer")
          .where("uid", "=", provider)
          .executeTakeFirstOrThrow();
        await tx
          .updateTable("identities")
          .set({ email, provider, issuer, subject: uid })
          .where("uid", "=", uid)
          .execute();
      }),
    subscription: (group, fields) =>
      ok("POST", `/events/v2/subscriptions/${group}`, { sink: "http://127.0.0.1:9/", ...fields }),
    tag: (repo, fields) => tag(repo, { digest: DIGEST, ...fields }),
    async identity(parent, roleName) {
      const { uid } = await identityOf(parent);
      if (roleName !== undefined) await bind(parent, uid, await role(roleName));
      return uid;
    },
    async close() {
      agent.destroy();
      grpc.close();
      await server[Symbol.asyncDispose]();
      await dropDatabase(dataDir);
      rmSync(dataDir, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

export const DIGEST = `sha256:${"a".repeat(64)}`;

/** The resources of a list's answer. */
export async function rows<T = Json>(answer: Json | Promise<Json>, plural: string): Promise<T[]> {
  return (await answer)[plural] as T[];
}

/** The names of the fields that an INVALID_ARGUMENT blames. */
export function blamed({ body }: { body: Pick<Json, "details"> }): string[] {
  return body.details.flatMap(({ fieldViolations = [] }) => fieldViolations).map(({ field }) => field);
}

/** ErrorInfo's reason. */
export function reason({ body }: Answer): string | undefined {
  return body.details?.find((detail) => detail["@type"].endsWith("google.rpc.ErrorInfo"))?.reason;
}

function ask(
  url: string,
  agent: Agent,
  method: string,
  path: string,
  content: string | Uint8Array | undefined,
  headers: Record<string, string>,
): Promise<Answer> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      { hostname, port, agent, method, path, headers, signal: AbortSignal.timeout(TIMEOUT_MS) },
      (response) => {
        const chunks: Buffer[] = [];
        response
          .on("error", reject)
          .on("data", (chunk: Buffer) => chunks.push(chunk))
          .on("end", () => {
            const text = Buffer.concat(chunks).toString();
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              text,
              body: (text.startsWith("{") ? JSON.parse(text) : {}) as Json,
            });
          });
      },
    );
    outgoing.on("error", reject).end(content);
  });
}
