import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { pino } from "pino";
import { beginMigrated, databaseEnv } from "./database.ts";
import { loadConfig, readBootstrap, signToken, startServer } from "../../src/index.ts";
import { checkAnswer } from "./openapi.ts";
import { UNLIMITED } from "./no-rate-limits.ts";

export const OCI_IMAGE = "application/vnd.oci.image.manifest.v1+json";
export const OCI_INDEX = "application/vnd.oci.image.index.v1+json";
const CONFIG = "application/vnd.oci.image.config.v1+json";
const LAYER = "application/vnd.oci.image.layer.v1.tar+gzip";

/** The fields of an answer that tests read; which ones are present depends on the answer. */
export interface Body {
  uid: string;
  name: string;
  token: string;
  refreshToken: string;
  code: number;
  message: string;
  expires_in: number;
  issued_at: string;
  access_token: string;
  errors: { code: string; message?: string }[];
  details: { "@type": string; reason?: string; domain?: string }[];
  history: { digest: string; updateTimestamp: string }[];
  groups: { uid: string; name: string }[];
  repos: { uid: string; name: string }[];
  roles: { uid: string; name: string }[];
  architectures: string[];
  size: string;
}
export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  json: Body;
}
/** `json` and `bytes` are bodies; `basic` is `user:password`. */
export interface Ask {
  token?: string;
  basic?: string;
  json?: unknown;
  bytes?: string;
  headers?: Record<string, string>;
}
export interface Image {
  answer: Answer;
  digest: string;
  size: number;
  layer: string;
  config: string;
}

/**
 * A temporary folder that is removed when the test ends. Hooks run in the order of their registration, so a server that
 * the test started later still writes to it; and when one hook fails, those after it, which end that server, do not.
 */
export function temporaryFolder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), "moorage-installation-"));
  t.after(() => rmSync(dir, { recursive: true, force: true, maxRetries: 10 }));
  return dir;
}

/**
 * The whole server on a data folder, as `moorage serve` starts it, with its owner's tokens. The log's lines are
 * collected.
 */
export async function startInstallation(
  t: TestContext,
  env: Record<string, string> = {},
  dataDir = temporaryFolder(t),
) {
  const lines: string[] = [];
  const log = pino({ level: "info" }, { write: (line: string) => void lines.push(line) });
  const config = loadConfig({
    MOORAGE_PORT: "0",
    ...UNLIMITED,
    MOORAGE_DATA_DIR: dataDir,
    ...(await databaseEnv(dataDir)),
    ...env,
  });
  beginMigrated(dataDir);
  const server = await startServer(config, { log });
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => (closed ??= server.close().then(() => {}));
  t.after(close);
  const bootstrap = readBootstrap(dataDir);
  const tokenFor = async (audience: "platform" | "registry", identity?: string): Promise<string> =>
    (await signToken({ config, audience, ttlMs: 600_000, identity })).token;
  const platform = await tokenFor("platform");
  const registry = await tokenFor("registry");

  const ask = async (
    method: string,
    target: string,
    { token, basic, json, bytes, headers = {} }: Ask = {},
  ): Promise<Answer> => {
    const response = await fetch(server.url + target, {
      method,
      redirect: "manual",
      signal: AbortSignal.timeout(60_000),
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(json !== undefined && { "content-type": "application/json" }),
        ...(basic !== undefined && { authorization: `Basic ${Buffer.from(basic).toString("base64")}` }),
        ...headers,
      },
      ...(json !== undefined && { body: JSON.stringify(json) }),
      ...(bytes !== undefined && { body: bytes }),
    });
    const text = await response.text();
    checkAnswer(method, target, { status: response.status, text });
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: (text.startsWith("{") ? JSON.parse(text) : {}) as Body,
    };
  };
  const pushManifest = (
    name: string,
    reference: string,
    manifest: { mediaType: string },
    token = registry,
  ): Promise<Answer> =>
    ask("PUT", `/v2/${name}/manifests/${reference}`, {
      token,
      bytes: JSON.stringify(manifest),
      headers: { "content-type": manifest.mediaType },
    });
  const pushBlob = async (name: string, content: string, token = registry): Promise<string> => {
    await ask("POST", `/v2/${name}/blobs/uploads/?digest=${digestOf(content)}`, {
      token,
      bytes: content,
      headers: { "content-type": "application/octet-stream" },
    });
    return digestOf(content);
  };
  /** Pushes an image whose content follows from `seed`. `answer` is the manifest's. */
  const pushImage = async (
    name: string,
    reference: string,
    seed: string,
    { token = registry, architecture = "amd64" } = {},
  ): Promise<Image> => {
    const [config, layer] = [JSON.stringify({ architecture, os: "linux", seed }), `layer ${seed}`];
    const manifest = {
      schemaVersion: 2,
      mediaType: OCI_IMAGE,
      config: { mediaType: CONFIG, digest: await pushBlob(name, config, token), size: config.length },
      layers: [{ mediaType: LAYER, digest: await pushBlob(name, layer, token), size: layer.length }],
    };
    const body = JSON.stringify(manifest);
    return {
      answer: await pushManifest(name, reference, manifest, token),
      digest: digestOf(body),
      size: body.length,
      layer: digestOf(layer),
      config: digestOf(config),
    };
  };
  /** Calls the platform API as the owner and returns the JSON. Fails the test when the answer is not 200. */
  const api = async <T = Body>(method: string, target: string, json?: unknown): Promise<T> => {
    const answer = await ask(method, target, { token: platform, json });
    if (answer.status !== 200) throw new Error(`${method} ${target}: ${answer.status} ${answer.text}`);
    return answer.json as T;
  };
  const roleUid = async (name: string): Promise<string> => {
    const found = (await api("GET", "/iam/v2/roles?page_size=200")).roles.find((role) => role.name === name);
    if (found === undefined) throw new Error(`there is no role ${name}`);
    return found.uid;
  };
  /** Creates an identity below the group with a built-in role there. Returns both uids. */
  const addIdentity = async (
    group: string,
    name: string,
    role: string,
  ): Promise<{ identity: string; binding: string }> => {
    const { uid: identity } = await api("POST", `/iam/v2/identities/${group}`, { name });
    const { uid: binding } = await api("POST", `/iam/v2/roleBindings/${group}`, {
      identityUid: identity,
      roleUid: await roleUid(role),
    });
    return { identity, binding };
  };
  /** The actions that `/token` grants for the credential, by repository. */
  const grantsOf = async (
    scopes: string[],
    basic?: string,
  ): Promise<{ token: string; access: Record<string, string[]> }> => {
    const query = scopes.map((scope) => `scope=${encodeURIComponent(scope)}`).join("&");
    const { status, text, json } = await ask("GET", `/token?${query}`, basic === undefined ? {} : { basic });
    if (status !== 200) throw new Error(`/token: ${status} ${text}`);
    const claims = JSON.parse(Buffer.from(json.token.split(".")[1] ?? "", "base64url").toString()) as {
      access: { name: string; actions: string[] }[];
    };
    return { token: json.token, access: Object.fromEntries(claims.access.map(({ name, actions }) => [name, actions])) };
  };
  return {
    ...server,
    close,
    bootstrap,
    dataDir,
    lines,
    platform,
    registry,
    tokenFor,
    ask,
    api,
    pushImage,
    pushBlob,
    pushManifest,
    roleUid,
    addIdentity,
    grantsOf,
  };
}

export type Installation = Awaited<ReturnType<typeof startInstallation>>;

export function digestOf(content: string): string {
  return `sha256:${createHash("sha256").update(content).digest("hex")}`;
}
