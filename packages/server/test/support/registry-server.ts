import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { Capability, TagsService } from "@moorage/api";
import { create } from "@bufbuild/protobuf";
import type { MintRequest } from "../../../platform/src/auth/index.ts";
import type { CallData } from "../../../kernel/src/core/call.ts";
import type { Installation } from "../../src/installation/bootstrap.ts";
import type { Database } from "../../../kernel/src/store/index.ts";
import { openComposition } from "./composition.ts";
import { dropDatabase } from "./database.ts";
import { insertIdentity, insertRole } from "./identities.ts";

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
 * viewer, pusher and tagger of acme, stranger. `env`: settings beside those of every test.
 */
export async function startRegistry(t: TestContext, env: Record<string, string> = {}) {
  const dir = await mkdtemp(join(tmpdir(), "moorage-registry-"));
  const clock = { offsetMs: 0, nowMs: () => Date.now() + clock.offsetMs };
  const settings = { MOORAGE_ALLOW_PRIVATE_NETWORK: "1", MOORAGE_UPLOAD_TTL: "1h", ...env };
  const composition = await openComposition(dir, settings, { clock });
  t.after(async () => {
    await composition[Symbol.asyncDispose]();
    await dropDatabase(dir);
    await rm(dir, { recursive: true });
  });
  const {
    access,
    db,
    dispatch,
    registry: deps,
    store: { reader },
  } = composition;
  const { baseUrl, registryAudience: host } = composition.config;
  const people = await seed(db, composition.installation);

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
      signal: AbortSignal.timeout(60_000),
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
      { form: "binary" },
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

async function seed(db: Database, { bootstrap, ownerRole }: Installation) {
  const [acme, open] = [bootstrap.organization.uid, bootstrap.publicOrganization.uid];
  const [pull, push, retag] = [
    await insertRole(db, "pull", PULL),
    await insertRole(db, "push", [...PUSH, C.CAP_TAG_CREATE]),
    await insertRole(db, "retag", [...PUSH, C.CAP_TAG_UPDATE]),
  ];
  return {
    acme,
    open,
    ownerRole,
    pullRole: pull,
    // The installation's own owner may create organizations; this one may not.
    owner: await insertIdentity(db, "owner-of-both", [
      [acme, ownerRole],
      [open, ownerRole],
    ]),
    viewer: await insertIdentity(db, "viewer", [[acme, pull]]),
    pusher: await insertIdentity(db, "pusher", [[acme, push]]),
    tagger: await insertIdentity(db, "tagger", [[acme, retag]]),
    stranger: await insertIdentity(db, "stranger", []),
  };
}

export function digestOf(content: string | Uint8Array, algorithm: "sha256" | "sha512" = "sha256"): string {
  return `${algorithm}:${createHash(algorithm).update(content).digest("hex")}`;
}

/** Some digest of nothing that is held. */
export function anyDigest(): string {
  return `sha256:${randomBytes(32).toString("hex")}`;
}
