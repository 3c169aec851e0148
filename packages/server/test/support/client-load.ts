import { createHash, randomBytes } from "node:crypto";
import type { Client } from "./api-client.ts";
import { OCI_IMAGE } from "./installation.ts";

// Load by clients that remember which of their writes were acknowledged.

/** The writes that the server has acknowledged. */
export interface Acknowledged {
  repos: Set<string>;
  /** By `<organization>/<image>:<tag>`, for tags with a single writer: the digests in order. */
  moves: Map<string, string[]>;
  /** The digests of the tag that all clients move, without order. */
  shared: Set<string>;
  blobs: Map<string, { image: string; size: number }>;
  /** Answers that were wrong. */
  wrong: string[];
  steps: number;
}

export interface LoadOptions {
  client: Client;
  organization: { uid: string; name: string };
  platform: string;
  registry: string;
  isOver(): boolean;
}

export function newAcknowledged(): Acknowledged {
  return { repos: new Set(), moves: new Map(), shared: new Set(), blobs: new Map(), wrong: [], steps: 0 };
}

export const SHARED = "everybody:latest";

/** One client of the API: creates repos, and reads each back immediately. */
export async function createRepos(
  name: string,
  { client, organization, platform, isOver }: LoadOptions,
  done: Acknowledged,
): Promise<void> {
  for (let at = 0; !isOver(); at++) {
    const repo = `${name}-${at}`;
    const json = { "content-type": "application/json" };
    const reply = await client.ask("POST", `/registry/v2/repos/${organization.uid}`, {
      token: platform,
      headers: json,
      body: JSON.stringify({ name: repo }),
    });
    // An attempt whose answer was lost may have created it.
    if (reply.status !== 200 && !(reply.retried && reply.status === 409))
      done.wrong.push(`create ${repo}: ${reply.status} ${reply.body.toString()}`);
    else done.repos.add(repo);
    const read = await client.ask("GET", `/registry/v2/repos?name=${repo}`, { token: platform });
    if (read.status !== 200 || !read.body.toString().includes(`"${repo}"`))
      done.wrong.push(`read ${repo}: ${read.status} ${read.body.toString()}`);
    done.steps += 1;
  }
}

/**
 * One client of the registry: pushes an image, in one piece or in chunks, moves its own tag and the shared one, and
 * pulls with a token of its own.
 */
export async function pushAndPull(name: string, options: LoadOptions, done: Acknowledged): Promise<void> {
  const { client, organization, platform, registry, isOver } = options;
  const image = `${organization.name}/${name}`;
  const moves: string[] = [];
  done.moves.set(`${image}:latest`, moves);
  for (let at = 0; !isOver(); at++) {
    const config = Buffer.from(
      JSON.stringify({ architecture: "amd64", os: "linux", nonce: randomBytes(8).toString("hex") }),
    );
    const layer = randomBytes(40_000 + Math.floor(Math.random() * 60_000));
    for (const content of [config, layer]) {
      await (at % 2 === 0 || content === config
        ? pushWhole(image, content, options, done)
        : pushChunks(image, content, options, done));
      done.blobs.set(digestOf(content), { image, size: content.length });
    }
    const manifest = Buffer.from(
      JSON.stringify({
        schemaVersion: 2,
        mediaType: OCI_IMAGE,
        config: {
          mediaType: "application/vnd.oci.image.config.v1+json",
          digest: digestOf(config),
          size: config.length,
        },
        layers: [{ mediaType: "application/vnd.oci.image.layer.v1.tar", digest: digestOf(layer), size: layer.length }],
      }),
    );
    const put = async (path: string, tag: string): Promise<boolean> => {
      const reply = await client.ask("PUT", `/v2/${path}/manifests/${tag}`, {
        token: registry,
        headers: { "content-type": OCI_IMAGE },
        body: manifest,
      });
      if (reply.status !== 201) done.wrong.push(`tag ${path}:${tag}: ${reply.status} ${reply.body.toString()}`);
      return reply.status === 201;
    };
    if (await put(image, "latest")) moves.push(digestOf(manifest));
    const [everybody = "", tag = ""] = SHARED.split(":");
    for (const content of [config, layer])
      await mount(`${organization.name}/${everybody}`, image, content, options, done);
    if (await put(`${organization.name}/${everybody}`, tag)) done.shared.add(digestOf(manifest));
    const token = await exchange(image, platform, client, done);
    const pulled = await client.ask("GET", `/v2/${image}/manifests/latest`, { token });
    if (pulled.status !== 200 || digestOf(pulled.body) !== moves.at(-1))
      done.wrong.push(`pull ${image}: ${pulled.status} ${digestOf(pulled.body)}, not ${moves.at(-1) ?? ""}`);
    done.steps += 1;
  }
}

async function pushWhole(
  image: string,
  content: Buffer,
  { client, registry }: LoadOptions,
  done: Acknowledged,
): Promise<void> {
  const reply = await client.ask("POST", `/v2/${image}/blobs/uploads/?digest=${digestOf(content)}`, {
    token: registry,
    body: content,
  });
  if (reply.status !== 201) done.wrong.push(`blob ${image}: ${reply.status} ${reply.body.toString()}`);
}

/**
 * After any failure the client asks for the upload's offset and continues from there, as the OCI distribution
 * specification says.
 */
async function pushChunks(image: string, content: Buffer, options: LoadOptions, done: Acknowledged): Promise<void> {
  const { client, registry } = options;
  const digest = digestOf(content);
  const started = await client.ask("POST", `/v2/${image}/blobs/uploads/`, { token: registry });
  if (started.status !== 202)
    return void done.wrong.push(`upload ${image}: ${started.status} ${started.body.toString()}`);
  const location = String(started.headers["location"]);
  const headers = (from: number, to: number): Record<string, string> => ({
    "content-type": "application/octet-stream",
    "content-range": `${from}-${to - 1}`,
  });
  for (let from = 0; from < content.length;) {
    const to = Math.min(from + 20_000, content.length);
    const sent = await client
      .once("PATCH", location, { token: registry, headers: headers(from, to), body: content.subarray(from, to) })
      .catch(() => undefined);
    if (sent?.status === 202) {
      from = to;
      continue;
    }
    // 416: an attempt whose answer was lost was done; 409: another process still handles an earlier attempt.
    if (sent !== undefined && ![409, 416, 429, 502, 503, 504].includes(sent.status))
      return void done.wrong.push(`chunk ${image}: ${sent.status} ${sent.body.toString()}`);
    if (sent === undefined) client.trouble.connections += 1;
    else client.trouble.unavailable += 1;
    const asked = await client.ask("GET", location, { token: registry });
    if (asked.status !== 204)
      return void done.wrong.push(`status of ${image}: ${asked.status} ${asked.body.toString()}`);
    const range = /^0-(\d+)$/.exec(String(asked.headers["range"] ?? ""));
    from = range ? Number(range[1]) + 1 : 0;
    // An empty upload and one of a single byte have the same range.
    if (from === 1) from = 0;
  }
  const closed = await client.ask("PUT", `${location}?digest=${digest}`, { token: registry });
  if (closed.status === 201) return;
  const there =
    closed.retried && closed.status === 404
      ? await client.ask("HEAD", `/v2/${image}/blobs/${digest}`, { token: registry })
      : undefined;
  // The process that finished the upload died before it recorded the blob: nothing was acknowledged, so the client
  // begins again.
  if (there?.status === 404) return pushChunks(image, content, options, done);
  if (there?.status !== 200) done.wrong.push(`end of upload ${image}: ${closed.status} ${closed.body.toString()}`);
}

async function mount(
  to: string,
  from: string,
  content: Buffer,
  { client, registry }: LoadOptions,
  done: Acknowledged,
): Promise<void> {
  const reply = await client.ask("POST", `/v2/${to}/blobs/uploads/?mount=${digestOf(content)}&from=${from}`, {
    token: registry,
  });
  if (reply.status !== 201) done.wrong.push(`mount ${to}: ${reply.status} ${reply.body.toString()}`);
}

/** A registry token for pulling the image. */
async function exchange(image: string, platform: string, client: Client, done: Acknowledged): Promise<string> {
  const basic = `Basic ${Buffer.from(`load:${platform}`).toString("base64")}`;
  const reply = await client.ask("GET", `/token?scope=repository:${image}:pull`, { token: basic });
  if (reply.status !== 200) done.wrong.push(`token ${image}: ${reply.status} ${reply.body.toString()}`);
  return reply.status === 200 ? (JSON.parse(reply.body.toString()) as { token: string }).token : "";
}

export function digestOf(content: Uint8Array): string {
  return `sha256:${createHash("sha256").update(content).digest("hex")}`;
}
