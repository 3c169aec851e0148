import { setTimeout as wait } from "node:timers/promises";
import type { Client, Reply, Send } from "../api-client.ts";
import { type Content, digestOf, type Manifest, type Pool } from "./content.ts";
import type { Dice } from "../dice.ts";
import { change, noteMove, notePush, type Shelf } from "./facts.ts";

/** What all clients of a race have in common. */
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
export interface Hand {
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

/** What the server said is there: since when, and until when it must be, on this client's clock. */
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

/** What was pushed is promised for the grace. */
function whole({ race }: Hand, sinceMs: number): Promised {
  return { sinceMs, untilMs: sinceMs + race.graceMs };
}

/** Who may push is promised half of the grace by a look. */
function half({ race }: Hand, sinceMs: number): Promised {
  return { sinceMs, untilMs: sinceMs + race.graceMs / 2 };
}

export function reportWrong({ race, doing }: Pick<Hand, "race" | "doing">, what: string): void {
  if (race.wrong.length < MOST_WRONG) race.wrong.push(`${doing}: ${what}`);
}

export function count({ race }: Hand, what: string): void {
  race.counts[what] = (race.counts[what] ?? 0) + 1;
}

export async function send(
  hand: Hand,
  method: string,
  target: string,
  options: Send = {},
): Promise<Reply & { retried: boolean; sentMs: number }> {
  const { client, race, patient } = hand;
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

export async function api<T>(hand: Hand, method: string, target: string, body?: object): Promise<T> {
  const reply = await send(
    hand,
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
 * As clients do it: what is said to be there is not sent. Some ask to mount it without asking whether it is there, and
 * some just send it.
 */
export async function ensureBlob(hand: Hand, path: string, blob: Content): Promise<Promised> {
  const habit = hand.dice.below(8);
  if (habit === 0) return mountBlob(hand, path, hand.dice.pick(hand.paths), blob);
  if (habit === 1) return giveBlob(hand, path, blob);
  const head = await send(hand, "HEAD", `/v2/${path}/blobs/${blob.digest}`);
  if (head.status === 200) {
    count(hand, "blobs that were there");
    return half(hand, head.sentMs);
  }
  if (head.status !== 404) reportWrong(hand, `HEAD of blob ${path} ${blob.digest}: ${head.status}`);
  const way = hand.dice.below(4);
  if (way === 0) return mountBlob(hand, path, hand.dice.pick(hand.paths), blob);
  if (way === 1) return uploadBlob(hand, path, blob);
  return giveBlob(hand, path, blob);
}

/** Pushes in one request. */
export async function giveBlob(hand: Hand, path: string, { digest, bytes }: Content): Promise<Promised> {
  const reply = await send(hand, "POST", `/v2/${path}/blobs/uploads/?digest=${digest}`, {
    body: bytes,
    headers: OCTETS,
  });
  if (reply.status !== 201) reportWrong(hand, `blob ${path} ${digest}: ${reply.status} ${reply.body.toString()}`);
  count(hand, "blobs sent");
  return whole(hand, reply.sentMs);
}

/** In a session, of two chunks. Whatever comes between, it begins again in one request. */
async function uploadBlob(hand: Hand, path: string, blob: Content): Promise<Promised> {
  const { digest, bytes } = blob;
  const middle = Math.ceil(bytes.length / 2);
  const begun = await send(hand, "POST", `/v2/${path}/blobs/uploads/`);
  if (begun.status !== 202) reportWrong(hand, `upload ${path}: ${begun.status} ${begun.body.toString()}`);
  const location = String(begun.headers["location"]);
  const chunk = { body: bytes.subarray(0, middle), headers: { ...OCTETS, "content-range": `0-${middle - 1}` } };
  const first = await send(hand, "PATCH", location, chunk);
  if (first.status !== 202) return giveBlob(hand, path, blob);
  const last = await send(hand, "PUT", `${location}?digest=${digest}`, {
    body: bytes.subarray(middle),
    headers: OCTETS,
  });
  return last.status === 201 ? whole(hand, last.sentMs) : giveBlob(hand, path, blob);
}

/** Mounts from another repo; uploads a blob that cannot be mounted. */
export async function mountBlob(hand: Hand, path: string, from: string, blob: Content): Promise<Promised> {
  const reply = await send(hand, "POST", `/v2/${path}/blobs/uploads/?mount=${blob.digest}&from=${from}`);
  if (reply.status === 201) {
    count(hand, "blobs mounted");
    return whole(hand, reply.sentMs);
  }
  if (reply.status !== 202) reportWrong(hand, `mount ${path} ${blob.digest}: ${reply.status} ${reply.body.toString()}`);
  // The session that it came with is left to itself now and then.
  if (hand.dice.chance(0.2)) return giveBlob(hand, path, blob);
  const put = await send(hand, "PUT", `${String(reply.headers["location"])}?digest=${blob.digest}`, {
    body: blob.bytes,
    headers: OCTETS,
  });
  return put.status === 201 ? whole(hand, put.sentMs) : giveBlob(hand, path, blob);
}

/** What is said to be there is not pushed; some push it all the same. */
async function ensureManifest(hand: Hand, shelf: Shelf, manifest: Manifest): Promise<Promised> {
  const quick = { ...hand, lingers: false };
  if (hand.dice.chance(0.35)) return pushManifest(quick, shelf, manifest);
  const head = await send(hand, "HEAD", `/v2/${shelf.path}/manifests/${manifest.digest}`);
  if (head.status === 200) {
    count(hand, "manifests that were there");
    return half(hand, head.sentMs);
  }
  if (head.status !== 404) reportWrong(hand, `HEAD of manifest ${shelf.path} ${manifest.digest}: ${head.status}`);
  return pushManifest(quick, shelf, manifest);
}

/** Pushes what it refers to where it is not there, and then itself, by its digest or under a tag. */
export async function pushManifest(hand: Hand, shelf: Shelf, manifest: Manifest, tag?: string): Promise<Promised> {
  const { race } = hand;
  const { path } = shelf;
  for (let tries = 0; tries < MOST_PUSHES; tries++) {
    const promises = new Map<string, Promised>();
    for (const child of manifest.children) promises.set(child.digest, await ensureManifest(hand, shelf, child));
    for (const blob of manifest.blobs) promises.set(blob.digest, await ensureBlob(hand, path, blob));
    // A slow client: the server's earlier answers still hold.
    if (hand.lingers || hand.dice.chance(0.2)) await wait(hand.dice.below(race.graceMs * 0.45));
    const sentMs = nowMs();
    const note = (sure: boolean): void =>
      change(shelf, { sentMs, doneMs: nowMs(), graceMs: race.graceMs }, () => {
        notePush(shelf, manifest, sentMs, sure);
        if (tag !== undefined) noteMove(shelf, tag, manifest.digest, sure);
      });
    const options = { headers: { "content-type": manifest.mediaType }, body: manifest.bytes };
    const reply = await send(hand, "PUT", `/v2/${path}/manifests/${tag ?? manifest.digest}`, options).catch(
      (error: unknown) => {
        note(false);
        throw error;
      },
    );
    if (reply.status === 201) {
      note(true);
      count(hand, "manifests pushed");
      return whole(hand, sentMs);
    }
    if (codeOf(reply) !== "MANIFEST_BLOB_UNKNOWN") {
      reportWrong(hand, `manifest ${path} ${manifest.digest}: ${reply.status} ${reply.body.toString()}`);
      throw new GivenUp();
    }
    judgeMissing(hand, path, reply, promises);
  }
  reportWrong(hand, `${path} ${manifest.digest}: after ${MOST_PUSHES} pushes something is missing still`);
  throw new GivenUp();
}

/** What was there may be gone only when that was too long ago, or somebody deleted it on purpose. */
function judgeMissing(hand: Hand, path: string, reply: Reply, promises: Map<string, Promised>): void {
  const { errors } = JSON.parse(reply.body.toString()) as { errors: { detail?: { digest: string }[] }[] };
  for (const { digest } of errors[0]?.detail ?? []) judgeGone(hand, path, digest, promises.get(digest));
}

function judgeGone(
  hand: Hand,
  path: string,
  digest: string,
  { sinceMs, untilMs }: Promised = { sinceMs: 0, untilMs: 0 },
): void {
  const deleted = hand.race.blobDeletions.some(
    (each) => each.path === path && each.digest === digest && each.doneMs >= sinceMs,
  );
  if (!deleted && nowMs() < untilMs)
    reportWrong(hand, `${path} ${digest} is gone, and was there ${Math.round(nowMs() - sinceMs)} ms before`);
  count(hand, "found gone while pushing");
}

/**
 * The last manifest that needed these blobs has perhaps just gone: they stay for the grace, in case that was a mistake.
 */
export async function checkGrace(hand: Hand, path: string, blobs: readonly Content[], sinceMs: number): Promise<void> {
  for (const { digest } of blobs) {
    const head = await send(hand, "HEAD", `/v2/${path}/blobs/${digest}`);
    if (head.status === 404) judgeGone(hand, path, digest, whole(hand, sinceMs));
  }
}

/**
 * Pulls it by the reference, with all that it refers to, and compares. Answers its digest, or what is missing first.
 */
export async function pullWhole(
  hand: Hand,
  path: string,
  reference: string,
  seen: Set<string> = new Set(),
): Promise<{ digest: string } | { missing: string }> {
  const reply = await send(hand, "GET", `/v2/${path}/manifests/${reference}`);
  if (reply.status === 404) return { missing: `manifest ${reference}` };
  const digest = digestOf(reply.body);
  if (reply.status !== 200 || (reference.includes(":") && digest !== reference)) {
    reportWrong(hand, `manifest ${path} ${reference}: ${reply.status} with ${digest}`);
    return { missing: `manifest ${reference}` };
  }
  const body = JSON.parse(reply.body.toString()) as { manifests?: Content[]; config?: Content; layers?: Content[] };
  for (const child of body.manifests ?? []) {
    if (seen.has(child.digest)) continue;
    seen.add(child.digest);
    const pulled = await pullWhole(hand, path, child.digest, seen);
    if ("missing" in pulled) return { missing: `${pulled.missing} of ${reference}` };
  }
  for (const blob of [...(body.config ? [body.config] : []), ...(body.layers ?? [])]) {
    if (seen.has(blob.digest)) continue;
    seen.add(blob.digest);
    const pulled = await send(hand, "GET", `/v2/${path}/blobs/${blob.digest}`);
    if (pulled.status === 404) return { missing: `blob ${blob.digest} of ${reference}` };
    const found = digestOf(pulled.body);
    if (pulled.status !== 200 || found !== blob.digest)
      reportWrong(hand, `blob ${path} ${blob.digest}: ${pulled.status} with ${found}`);
  }
  count(hand, "manifests pulled whole");
  return { digest };
}
