import { setTimeout as wait } from "node:timers/promises";
import type { Client, Reply, Send } from "../api-client.ts";
import { type Content, digestOf, type Manifest, type Pool } from "./content.ts";
import type { Dice } from "../dice.ts";
import { change, noteMove, notePush, type RepoFacts } from "./facts.ts";

/** The state that all clients of a race share. */
export interface Race {
  seed: number;
  /** The organization's name. */
  organization: string;
  /** The owner's tokens. */
  platform: string;
  registry: string;
  /** How long content is retained after it is last needed, in milliseconds. */
  graceMs: number;
  pool: Pool;
  /** The faults found, at most MOST_WRONG. */
  wrong: string[];
  /** Blobs deleted on purpose, recently. */
  blobDeletions: { path: string; digest: string; doneMs: number }[];
  counts: Record<string, number>;
  isOver(): boolean;
}

/** One client during its operations. */
export interface OperationContext {
  race: Race;
  client: Client;
  dice: Dice;
  /**
   * Whether it repeats a request until it is answered; otherwise it gives up at the first failure, and does not know
   * the outcome.
   */
  patient: boolean;
  /** Whether it waits before the last request of a push. */
  lingers: boolean;
  /** Its current operation, for messages. */
  doing: string;
  /** All image paths, to mount from. */
  paths: readonly string[];
}

/**
 * How long content that the server has confirmed must stay, in milliseconds on this client's clock: from the confirming
 * request until the end of its grace.
 */
export interface Promised {
  sinceMs: number;
  untilMs: number;
}

/** The client gave up. Its last request may have been done or not. */
export class GivenUp extends Error {}

const OCTETS = { "content-type": "application/octet-stream" };
const MOST_WRONG = 20;
const MOST_PUSHES = 8;

export const nowMs = (): number => performance.now();

/** Pushed content is retained for the whole grace. */
function wholeGrace({ race }: OperationContext, sinceMs: number): Promised {
  return { sinceMs, untilMs: sinceMs + race.graceMs };
}

/** Content that a HEAD by a client with the right to push finds is retained for at least half of the grace. */
function halfGrace({ race }: OperationContext, sinceMs: number): Promised {
  return { sinceMs, untilMs: sinceMs + race.graceMs / 2 };
}

export function reportWrong({ race, doing }: Pick<OperationContext, "race" | "doing">, what: string): void {
  if (race.wrong.length < MOST_WRONG) race.wrong.push(`${doing}: ${what}`);
}

export function count({ race }: OperationContext, what: string): void {
  race.counts[what] = (race.counts[what] ?? 0) + 1;
}

export async function send(
  context: OperationContext,
  method: string,
  target: string,
  options: Send = {},
): Promise<Reply & { retried: boolean; sentMs: number }> {
  const { client, race, patient } = context;
  const sentMs = nowMs();
  const full = { token: target.startsWith("/v2/") ? race.registry : race.platform, ...options };
  if (patient) return { ...(await client.ask(method, target, full)), sentMs };
  try {
    const reply = await client.once(method, target, full);
    if (![502, 503, 504].includes(reply.status)) return { ...reply, retried: false, sentMs };
    client.trouble.unavailable += 1;
  } catch {
    client.trouble.connections += 1;
  }
  throw new GivenUp();
}

export async function api<T>(context: OperationContext, method: string, target: string, body?: object): Promise<T> {
  const reply = await send(
    context,
    method,
    target,
    body === undefined ? {} : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) },
  );
  if (reply.status !== 200) throw new Error(`${method} ${target}: ${reply.status} ${reply.body.toString()}`);
  return JSON.parse(reply.body.toString()) as T;
}

export function codeOf(reply: Reply): string {
  return /"code":"?([A-Z_]+)/.exec(reply.body.toString())?.[1] ?? "";
}

/**
 * Like real clients: sends HEAD, and uploads or mounts the blob only when it is missing. Sometimes mounts or uploads it
 * without HEAD.
 */
export async function ensureBlob(context: OperationContext, path: string, blob: Content): Promise<Promised> {
  const habit = context.dice.below(8);
  if (habit === 0) return mountBlob(context, path, context.dice.pick(context.paths), blob);
  if (habit === 1) return giveBlob(context, path, blob);
  const head = await send(context, "HEAD", `/v2/${path}/blobs/${blob.digest}`);
  if (head.status === 200) {
    count(context, "blobs found by HEAD");
    return halfGrace(context, head.sentMs);
  }
  if (head.status !== 404) reportWrong(context, `HEAD of blob ${path} ${blob.digest}: ${head.status}`);
  const way = context.dice.below(4);
  if (way === 0) return mountBlob(context, path, context.dice.pick(context.paths), blob);
  if (way === 1) return uploadBlob(context, path, blob);
  return giveBlob(context, path, blob);
}

/** Pushes in one request. */
export async function giveBlob(context: OperationContext, path: string, { digest, bytes }: Content): Promise<Promised> {
  const reply = await send(context, "POST", `/v2/${path}/blobs/uploads/?digest=${digest}`, {
    body: bytes,
    headers: OCTETS,
  });
  if (reply.status !== 201) reportWrong(context, `blob ${path} ${digest}: ${reply.status} ${reply.body.toString()}`);
  count(context, "blobs sent");
  return wholeGrace(context, reply.sentMs);
}

/** Uploads in a session of two chunks. After a failure, uploads again in one request. */
async function uploadBlob(context: OperationContext, path: string, blob: Content): Promise<Promised> {
  const { digest, bytes } = blob;
  const middle = Math.ceil(bytes.length / 2);
  const begun = await send(context, "POST", `/v2/${path}/blobs/uploads/`);
  if (begun.status !== 202) reportWrong(context, `upload ${path}: ${begun.status} ${begun.body.toString()}`);
  const location = String(begun.headers["location"]);
  const chunk = { body: bytes.subarray(0, middle), headers: { ...OCTETS, "content-range": `0-${middle - 1}` } };
  const first = await send(context, "PATCH", location, chunk);
  if (first.status !== 202) return giveBlob(context, path, blob);
  const last = await send(context, "PUT", `${location}?digest=${digest}`, {
    body: bytes.subarray(middle),
    headers: OCTETS,
  });
  return last.status === 201 ? wholeGrace(context, last.sentMs) : giveBlob(context, path, blob);
}

/** Mounts from another repo; uploads a blob that cannot be mounted. */
export async function mountBlob(
  context: OperationContext,
  path: string,
  from: string,
  blob: Content,
): Promise<Promised> {
  const reply = await send(context, "POST", `/v2/${path}/blobs/uploads/?mount=${blob.digest}&from=${from}`);
  if (reply.status === 201) {
    count(context, "blobs mounted");
    return wholeGrace(context, reply.sentMs);
  }
  if (reply.status !== 202)
    reportWrong(context, `mount ${path} ${blob.digest}: ${reply.status} ${reply.body.toString()}`);
  // The upload session that the answer opened is sometimes left unused.
  if (context.dice.chance(0.2)) return giveBlob(context, path, blob);
  const put = await send(context, "PUT", `${String(reply.headers["location"])}?digest=${blob.digest}`, {
    body: blob.bytes,
    headers: OCTETS,
  });
  return put.status === 201 ? wholeGrace(context, put.sentMs) : giveBlob(context, path, blob);
}

/** Pushes a manifest that HEAD does not find; sometimes pushes it without HEAD. */
async function ensureManifest(context: OperationContext, repo: RepoFacts, manifest: Manifest): Promise<Promised> {
  const quick = { ...context, lingers: false };
  if (context.dice.chance(0.35)) return pushManifest(quick, repo, manifest);
  const head = await send(context, "HEAD", `/v2/${repo.path}/manifests/${manifest.digest}`);
  if (head.status === 200) {
    count(context, "manifests found by HEAD");
    return halfGrace(context, head.sentMs);
  }
  if (head.status !== 404) reportWrong(context, `HEAD of manifest ${repo.path} ${manifest.digest}: ${head.status}`);
  return pushManifest(quick, repo, manifest);
}

/** Pushes the missing content that the manifest refers to, and then the manifest, by its digest or with a tag. */
export async function pushManifest(
  context: OperationContext,
  repo: RepoFacts,
  manifest: Manifest,
  tag?: string,
): Promise<Promised> {
  const { race } = context;
  const { path } = repo;
  for (let tries = 0; tries < MOST_PUSHES; tries++) {
    const promises = new Map<string, Promised>();
    for (const child of manifest.children) promises.set(child.digest, await ensureManifest(context, repo, child));
    for (const blob of manifest.blobs) promises.set(blob.digest, await ensureBlob(context, path, blob));
    // A slow client: the server's earlier answers still hold.
    if (context.lingers || context.dice.chance(0.2)) await wait(context.dice.below(race.graceMs * 0.45));
    const sentMs = nowMs();
    const note = (sure: boolean): void =>
      change(repo, { sentMs, doneMs: nowMs(), graceMs: race.graceMs }, () => {
        notePush(repo, manifest, sentMs, sure);
        if (tag !== undefined) noteMove(repo, tag, manifest.digest, sure);
      });
    const options = { headers: { "content-type": manifest.mediaType }, body: manifest.bytes };
    const reply = await send(context, "PUT", `/v2/${path}/manifests/${tag ?? manifest.digest}`, options).catch(
      (error: unknown) => {
        note(false);
        throw error;
      },
    );
    if (reply.status === 201) {
      note(true);
      count(context, "manifests pushed");
      return wholeGrace(context, sentMs);
    }
    if (codeOf(reply) !== "MANIFEST_BLOB_UNKNOWN") {
      reportWrong(context, `manifest ${path} ${manifest.digest}: ${reply.status} ${reply.body.toString()}`);
      throw new GivenUp();
    }
    judgeMissing(context, path, reply, promises);
  }
  reportWrong(context, `${path} ${manifest.digest}: after ${MOST_PUSHES} pushes content is still missing`);
  throw new GivenUp();
}

/** Confirmed content may be missing only when its retention is over, or when a client has deleted it on purpose. */
function judgeMissing(context: OperationContext, path: string, reply: Reply, promises: Map<string, Promised>): void {
  const { errors } = JSON.parse(reply.body.toString()) as { errors: { detail?: { digest: string }[] }[] };
  for (const { digest } of errors[0]?.detail ?? []) judgeGone(context, path, digest, promises.get(digest));
}

function judgeGone(
  context: OperationContext,
  path: string,
  digest: string,
  { sinceMs, untilMs }: Promised = { sinceMs: 0, untilMs: 0 },
): void {
  const deleted = context.race.blobDeletions.some(
    (each) => each.path === path && each.digest === digest && each.doneMs >= sinceMs,
  );
  if (!deleted && nowMs() < untilMs)
    reportWrong(context, `${path} ${digest} is gone, and was there ${Math.round(nowMs() - sinceMs)} ms before`);
  count(context, "found gone while pushing");
}

/** Checks that blobs stay for the grace after the deletion of a manifest that needed them. */
export async function checkGrace(
  context: OperationContext,
  path: string,
  blobs: readonly Content[],
  sinceMs: number,
): Promise<void> {
  for (const { digest } of blobs) {
    const head = await send(context, "HEAD", `/v2/${path}/blobs/${digest}`);
    if (head.status === 404) judgeGone(context, path, digest, wholeGrace(context, sinceMs));
  }
}

/**
 * Pulls a manifest with everything that it refers to, and checks the digests. Returns its digest, or the first missing
 * content.
 */
export async function pullWhole(
  context: OperationContext,
  path: string,
  reference: string,
  seen: Set<string> = new Set(),
): Promise<{ digest: string } | { missing: string }> {
  const reply = await send(context, "GET", `/v2/${path}/manifests/${reference}`);
  if (reply.status === 404) return { missing: `manifest ${reference}` };
  const digest = digestOf(reply.body);
  if (reply.status !== 200 || (reference.includes(":") && digest !== reference)) {
    reportWrong(context, `manifest ${path} ${reference}: ${reply.status} with ${digest}`);
    return { missing: `manifest ${reference}` };
  }
  const body = JSON.parse(reply.body.toString()) as { manifests?: Content[]; config?: Content; layers?: Content[] };
  for (const child of body.manifests ?? []) {
    if (seen.has(child.digest)) continue;
    seen.add(child.digest);
    const pulled = await pullWhole(context, path, child.digest, seen);
    if ("missing" in pulled) return { missing: `${pulled.missing} of ${reference}` };
  }
  for (const blob of [...(body.config ? [body.config] : []), ...(body.layers ?? [])]) {
    if (seen.has(blob.digest)) continue;
    seen.add(blob.digest);
    const pulled = await send(context, "GET", `/v2/${path}/blobs/${blob.digest}`);
    if (pulled.status === 404) return { missing: `blob ${blob.digest} of ${reference}` };
    const found = digestOf(pulled.body);
    if (pulled.status !== 200 || found !== blob.digest)
      reportWrong(context, `blob ${path} ${blob.digest}: ${pulled.status} with ${found}`);
  }
  count(context, "manifests pulled whole");
  return { digest };
}
