import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { Capability, CapabilitySchema, TagsService } from "@moorage/api";
import { create } from "@bufbuild/protobuf";
import { createAuditor } from "../../src/audit/index.ts";
import { createAccess, createSigningKey } from "../../src/auth/index.ts";
import type { MintRequest } from "../../src/auth/index.ts";
import { openFilesystemBlobs } from "../../src/blobs/index.ts";
import { createSecrets, type Secrets } from "../../src/lib/secrets.ts";
import { newUid } from "../../src/lib/uid.ts";
import type { CallData } from "../../src/core/call.ts";
import { createPullRecorder } from "../../src/oci/pulls/recorder.ts";
import { createPullCache } from "../../src/oci/pulls/cache.ts";
import { registryHandler } from "../../src/oci/router.ts";
import { tokenEndpoint } from "../../src/oci/token/endpoint.ts";
import { createDispatch } from "../../src/runtime/dispatch.ts";
import { methodsOf } from "../../src/runtime/methods.ts";
import type { Database } from "../../src/store/index.ts";
import { statusJson } from "../../src/transport/status.ts";
import { openTransactor } from "../../src/runtime/transactor.ts";
import { dropDatabase, openTestStore } from "./database.ts";

export const OCI_IMAGE = "application/vnd.oci.image.manifest.v1+json";
export const OCI_INDEX = "application/vnd.oci.image.index.v1+json";
const C = Capability;
const PULL = [C.CAP_REPO_LIST, C.CAP_MANIFEST_LIST, C.CAP_REPO_BLOBS_GET, C.CAP_TAG_LIST, C.CAP_REFERRERS_LIST];
const PUSH = [...PULL, C.CAP_MANIFEST_CREATE, C.CAP_REPO_CREATE, C.CAP_IAM_GROUPS_CREATE];

/** What the tests look at in a JSON answer; which of it is there depends on the answer. */
export interface Body {
  history: { updateTimestamp: string; digest: string }[];
  tags: string[];
  manifests: {
    mediaType: string;
    digest: string;
    size: number;
    artifactType?: string;
    annotations?: Record<string, string>;
  }[];
  token: string;
  access_token: string;
  expires_in: number;
  issued_at: string;
  scope?: string;
  code: number;
  errors: { code: string; message: string; detail: unknown }[];
  details: { "@type": string; fieldViolations?: { field: string }[] }[];
}
export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  json: Body;
}
export interface Ask {
  method?: string;
  token?: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
}

/**
 * A registry over real sockets, SQLite and files, with two organizations (acme, public) and identities: owner of both,
 * viewer, pusher and tagger of acme, stranger.
 */
export async function startRegistry(t: TestContext) {
  const dir = await mkdtemp(join(tmpdir(), "moorage-registry-"));
  const { store, db, close: closeStore } = await openTestStore(dir);
  const { reader } = store;
  const secretKeys = [randomBytes(32)];
  const secrets = createSecrets(secretKeys);
  const clock = { offsetMs: 0, nowMs: () => Date.now() + clock.offsetMs };
  const people = await seed(db, secrets, clock.nowMs());

  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const baseUrl = `http://${host}`;
  const pageTokenKey = randomBytes(32);
  const faults: unknown[] = [];
  const methods = methodsOf({
    pageTokenKey,
    ownerRole: people.ownerRole,
    secrets,
    eventsPrefix: "dev.moorage",
    readBlob: async () => undefined,
  });
  const writer = await openTransactor(store, {
    dataDir: dir,
    methods,
    pageTokenKey,
    ownerRole: people.ownerRole,
    admins: [],
    secretKeys,
    eventsPrefix: "dev.moorage",
    onFault: (error) => faults.push(error),
  });
  const log = { info: () => {}, error: (fields: object) => faults.push(fields) };
  const config = {
    registryUrl: baseUrl,
    registryAudience: host,
    historySegments: ["_service"],
    freeTierTags: ["latest", "latest-dev"],
    publicOrganization: "public",
    errorDomain: "moorage.dev",
    maxManifestBytes: 4 << 20,
    uploadTtlMs: 3_600_000,
    gcGraceMs: 86_400_000,
    idleTimeoutMs: 10_000,
  };
  const auditor = createAuditor({ writer, clock, log, dropped: () => {} });
  const access = createAccess({
    auditor,
    config: { ...config, baseUrl, accessTokenTtlMs: 3_600_000, allowPrivateNetwork: true },
    reader,
    writer,
    secrets,
    log,
  });
  const blobs = await openFilesystemBlobs(join(dir, "files"));
  const pullRecorder = createPullRecorder({ writer, clock, log, kept: () => {}, dropped: () => {} });
  const deps = {
    transactor: writer,
    auditor,
    pullRecorder,
    pulls: createPullCache(reader, access.tokens.isStillGood, config.gcGraceMs),
    blobs,
    authenticate: access.authenticate,
    config,
    clock,
    log,
    statusJson,
  };
  const door = registryHandler(deps);
  const token = tokenEndpoint({ ...deps, ...access, registryTokenTtlMs: 300_000 });
  server.on("request", (req, res) => {
    const data = { requestId: randomBytes(4).toString("hex"), remoteAddress: "127.0.0.1" };
    void (door.matches((req.url ?? "").split("?", 1)[0] ?? "") ? door.handle(req, res, data) : token(req, res, data));
  });
  const dispatch = createDispatch({ methods, outside: new Map(), reader, transactor: writer, admins: [], auditor });
  t.after(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await auditor.close();
    await pullRecorder.close();
    await writer.close();
    await closeStore();
    await dropDatabase(dir);
    await rm(dir, { recursive: true });
    if (faults.length > 0) throw new Error("the server logged errors", { cause: faults });
  });

  const mint = async (identity: string, change: Partial<MintRequest> = {}): Promise<string> =>
    (
      await access.tokens.mint({
        type: "access",
        identity,
        audiences: [host],
        ttlMs: 3_000_000,
        nowMs: clock.nowMs(),
        ...change,
      })
    ).token;
  const ask = async (
    target: string,
    { method = "GET", token: bearer, headers = {}, body }: Ask = {},
  ): Promise<Answer> => {
    const response = await fetch(baseUrl + target, {
      method,
      headers: { ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }), ...headers },
      ...(body !== undefined && { body: body as string }),
      redirect: "manual",
      signal: AbortSignal.timeout(20_000),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: (text.startsWith("{") ? JSON.parse(text) : {}) as Body,
    };
  };
  const owner = await mint(people.owner);
  const pushBlob = async (name: string, content: string): Promise<string> => {
    const answer = await ask(`/v2/${name}/blobs/uploads/?digest=${digestOf(content)}`, {
      method: "POST",
      token: owner,
      headers: { "content-type": "application/octet-stream" },
      body: Buffer.from(content),
    });
    if (answer.status !== 201) throw new Error(`blob: ${answer.status} ${answer.text}`);
    return digestOf(content);
  };
  const pushManifest = (
    name: string,
    reference: string,
    manifest: object | string,
    options: Ask = {},
  ): Promise<Answer> => {
    const body = typeof manifest === "string" ? manifest : JSON.stringify(manifest);
    const type = (JSON.parse(body) as { mediaType?: string }).mediaType ?? OCI_IMAGE;
    return ask(`/v2/${name}/manifests/${reference}`, {
      method: "PUT",
      token: owner,
      ...options,
      headers: { "content-type": type, ...options.headers },
      body,
    });
  };
  /** An image of one layer; pushes its blobs, not itself. */
  const image = async (
    name: string,
    content: string,
    change: object = {},
  ): Promise<{ manifest: object; body: string; digest: string; layer: string; config: string }> => {
    const [layer, imageConfig] = [
      await pushBlob(name, `layer ${content}`),
      await pushBlob(name, `{"content":"${content}"}`),
    ];
    const manifest = {
      schemaVersion: 2,
      mediaType: OCI_IMAGE,
      config: { mediaType: "application/vnd.oci.image.config.v1+json", digest: imageConfig, size: content.length + 14 },
      layers: [{ mediaType: "application/vnd.oci.image.layer.v1.tar+gzip", digest: layer, size: content.length + 6 }],
      ...change,
    };
    const body = JSON.stringify(manifest);
    return { manifest, body, digest: digestOf(body), layer, config: imageConfig };
  };
  const historyOf = (name: string, tag: string, query = "", bearer = owner): Promise<Answer> =>
    ask(`/v2/${name}/_service/history/${tag}${query}`, { token: bearer });
  const createTag = async (parent: string, name: string, digest: string, identity = people.owner): Promise<void> => {
    const data: CallData = {
      caller: { identity },
      requestId: "test",
      nowMs: clock.nowMs(),
      remoteAddress: "",
      userAgent: "",
    };
    await dispatch.answer(
      TagsService.method.createTag,
      data,
      create(TagsService.method.createTag.input, { parent, tag: { name, digest } }),
    );
  };
  /** An identity of acme's viewers, with a relationship through which it can be assumed. */
  const addIdentity = async (name: string, relationship: object): Promise<string> => {
    return await insertIdentity(db, name, [[people.acme, people.pullRole]], JSON.stringify(relationship));
  };
  const repoUid = async (name: string): Promise<string> =>
    (await reader.selectFrom("repos").select("uid").where("name", "=", name).executeTakeFirstOrThrow()).uid;
  return {
    ...people,
    baseUrl,
    host,
    deps,
    clock,
    reader,
    db,
    pulls: deps.pulls,
    access,
    ask,
    mint,
    ownerToken: owner,
    pushBlob,
    pushManifest,
    image,
    historyOf,
    createTag,
    repoUid,
    addIdentity,
  };
}

export type RegistryServer = Awaited<ReturnType<typeof startRegistry>>;

async function seed(db: Database, secrets: Secrets, nowMs: number) {
  await createSigningKey(db, secrets, nowMs);
  const group = async (name: string): Promise<string> => {
    const uid = newUid("");
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
        create_time: nowMs,
        update_time: nowMs,
      })
      .execute();
    return uid;
  };
  const role = async (name: string, capabilities: number[]): Promise<string> => {
    const uid = newUid("");
    await db
      .insertInto("roles")
      .values({
        uid,
        parent: "",
        name,
        description: "",
        capabilities: JSON.stringify(capabilities),
        create_time: nowMs,
        update_time: nowMs,
      })
      .execute();
    return uid;
  };
  const identity = (name: string, bindings: [string, string][]): Promise<string> =>
    insertIdentity(db, name, bindings, "{}");
  const [acme, open] = [await group("acme"), await group("public")];
  const all = CapabilitySchema.values.map((value) => value.number).filter((number) => number !== 0);
  const ownerRole = await role("owner", all);
  const [pull, push, retag] = [
    await role("pull", PULL),
    await role("push", [...PUSH, C.CAP_TAG_CREATE]),
    await role("retag", [...PUSH, C.CAP_TAG_UPDATE]),
  ];
  return {
    acme,
    open,
    ownerRole,
    pullRole: pull,
    owner: await identity("owner", [
      [acme, ownerRole],
      [open, ownerRole],
    ]),
    viewer: await identity("viewer", [[acme, pull]]),
    pusher: await identity("pusher", [[acme, push]]),
    tagger: await identity("tagger", [[acme, retag]]),
    stranger: await identity("stranger", []),
  };
}

async function insertIdentity(
  db: Database,
  name: string,
  bindings: [string, string][],
  relationship: string,
): Promise<string> {
  const uid = newUid("");
  const nowMs = Date.now();
  await db
    .insertInto("identities")
    .values({
      uid,
      parent: "",
      name,
      description: "",
      email: "",
      email_unverified: "",
      company: "",
      relationship_type: 0,
      relationship,
      issuer: "",
      subject: "",
      last_seen_time: null,
      create_time: nowMs,
      update_time: nowMs,
    })
    .execute();
  for (const [place, role] of bindings) {
    await db
      .insertInto("role_bindings")
      .values({ uid: newUid(place), parent: place, identity_uid: uid, role_uid: role, create_time: nowMs })
      .execute();
  }
  return uid;
}

export function digestOf(content: string | Uint8Array, algorithm: "sha256" | "sha512" = "sha256"): string {
  return `${algorithm}:${createHash(algorithm).update(content).digest("hex")}`;
}

/** Some digest of nothing that is held. */
export function anyDigest(): string {
  return `sha256:${randomBytes(32).toString("hex")}`;
}
