import { setTimeout as wait } from "node:timers/promises";
import { openClient } from "../api-client.ts";
import {
  api,
  checkGrace,
  codeOf,
  count,
  ensureBlob,
  GivenUp,
  type Hand,
  mountBlob,
  nowMs,
  pullWhole,
  pushManifest,
  type Race,
  send,
  reportWrong,
} from "./client.ts";
import { contentOf, imageOf, indexOf, type Manifest, someBlobs } from "./content.ts";
import { diceOf } from "../dice.ts";
import {
  change,
  type Known,
  mayPointTo,
  needed,
  newShelf,
  noteDeletion,
  noteMove,
  notePush,
  noteSeen,
  type Shelf,
} from "./facts.ts";

/**
 * One client of the race: its shelves of the repos that all share, and of a repo of its own, which it deletes now and
 * then.
 */
export interface Worker {
  number: number;
  shelves: Shelf[];
  own: Shelf;
  steps: number;
}

export interface Shared {
  path: string;
  history: "ever" | "short";
}

/** One of the things that clients do. The shelf is of a repo that was picked. */
type Operation = (hand: Hand, shelf: Shelf, worker: Worker) => Promise<void>;

const TAGS = ["a", "b", "c"];
const MOST_KNOWN = 120;
const LONGEST_PAUSE_MS = 60;

const OPERATIONS: readonly { name: string; weight: number; run: Operation }[] = [
  { name: "push an image", weight: 26, run: pushImage },
  { name: "push an index", weight: 10, run: pushIndex },
  { name: "push what all push", weight: 12, run: pushPooled },
  { name: "attach referrers", weight: 12, run: attach },
  { name: "push first, tag later", weight: 6, run: tagLater },
  { name: "come back late", weight: 12, run: comeBackLate },
  { name: "retag", weight: 10, run: retag },
  { name: "pull a tag", weight: 12, run: pullTag },
  { name: "pull a digest", weight: 8, run: pullNeeded },
  { name: "delete a tag", weight: 4, run: deleteTag },
  { name: "delete a manifest", weight: 6, run: deleteManifest },
  { name: "delete a blob", weight: 6, run: deleteBlob },
  { name: "push a blob for nothing", weight: 5, run: strayBlob },
  { name: "mount a blob", weight: 5, run: mount },
  { name: "leave an upload", weight: 1, run: leaveUpload },
  { name: "delete a repo", weight: 2, run: deleteRepo },
];
const ALL = OPERATIONS.flatMap((operation) => Array.from({ length: operation.weight }, () => operation));

export function newWorker(number: number, organization: string, shared: readonly Shared[]): Worker {
  const own = newShelf(`${organization}/apps/own-${number}`, "ever");
  return { number, own, shelves: [...shared.map(({ path, history }) => newShelf(path, history)), own], steps: 0 };
}

/**
 * Works until the race is over, or the round. What a step does follows from the seed, the worker's number and the
 * step's.
 */
export async function work(
  race: Race,
  worker: Worker,
  paths: readonly string[],
  url: string,
): Promise<{ trouble: number }> {
  const client = openClient(url);
  try {
    while (!race.isOver()) {
      const step = worker.steps++;
      const dice = diceOf(race.seed, worker.number + 1, step);
      const operation = dice.pick(ALL);
      const shelf = dice.pick(worker.shelves);
      const doing = `worker ${worker.number} step ${step} (${operation.name} in ${shelf.path})`;
      const hand: Hand = { race, client, dice, paths, patient: dice.chance(0.75), lingers: false, doing };
      try {
        await (shelf.known.size > MOST_KNOWN ? deleteManifest : operation.run)(hand, shelf, worker);
        count(hand, operation.name);
      } catch (error) {
        if (!(error instanceof GivenUp)) reportWrong(hand, String(error));
        count(hand, "given up");
      }
      await wait(dice.below(LONGEST_PAUSE_MS));
    }
    return { trouble: client.trouble.connections + client.trouble.unavailable };
  } finally {
    client.close();
  }
}

function nonceOf(hand: Hand, worker: Worker): string {
  return `${worker.number}-${worker.steps}-${hand.dice.below(1_000_000)}`;
}

/** A tag with this client as its only writer. */
function someTag(hand: Hand, worker: Worker): string {
  return `w${worker.number}-${hand.dice.pick(TAGS)}`;
}

async function pushImage(hand: Hand, shelf: Shelf, worker: Worker): Promise<void> {
  const image = imageOf({ blobs: someBlobs(hand.dice, hand.race.pool), nonce: nonceOf(hand, worker) });
  await pushManifest(hand, shelf, image, hand.dice.chance(0.65) ? someTag(hand, worker) : undefined);
}

async function pushIndex(hand: Hand, shelf: Shelf, worker: Worker): Promise<void> {
  const { dice, race } = hand;
  const known = [...shelf.known.values()].map(({ manifest }) => manifest).filter(({ subject }) => subject === "");
  const children = Array.from({ length: 1 + dice.below(3) }, (): Manifest => {
    if (known.length > 0 && dice.chance(0.4)) return dice.pick(known);
    return dice.chance(0.3)
      ? dice.pick(race.pool.manifests)
      : imageOf({ blobs: someBlobs(dice, race.pool), nonce: nonceOf(hand, worker) });
  });
  await pushManifest(
    hand,
    shelf,
    indexOf({ children, nonce: nonceOf(hand, worker) }),
    dice.chance(0.7) ? someTag(hand, worker) : undefined,
  );
}

async function pushPooled(hand: Hand, shelf: Shelf, worker: Worker): Promise<void> {
  await pushManifest(
    hand,
    shelf,
    hand.dice.pick(hand.race.pool.manifests),
    hand.dice.chance(0.6) ? someTag(hand, worker) : undefined,
  );
}

/** To something that is there: a referrer, and often another one to that. */
async function attach(hand: Hand, shelf: Shelf, worker: Worker): Promise<void> {
  const { dice, race } = hand;
  const there = [...needed(shelf).values()];
  let subject =
    there.length > 0 && dice.chance(0.8)
      ? dice.pick(there).manifest
      : imageOf({ blobs: someBlobs(dice, race.pool), nonce: nonceOf(hand, worker) });
  if (!shelf.known.has(subject.digest)) await pushManifest(hand, shelf, subject);
  for (let count = 1 + dice.below(2); count > 0; count--) {
    const referrer = imageOf({ blobs: someBlobs(dice, race.pool), subject, nonce: nonceOf(hand, worker) });
    await pushManifest(hand, shelf, referrer, dice.chance(0.1) ? someTag(hand, worker) : undefined);
    subject = referrer;
  }
}

/** As a build that signs before it releases. */
async function tagLater(hand: Hand, shelf: Shelf, worker: Worker): Promise<void> {
  const { dice, race } = hand;
  const image = imageOf({ blobs: someBlobs(dice, race.pool), nonce: nonceOf(hand, worker) });
  await pushManifest(hand, shelf, image);
  await wait(dice.below(race.graceMs));
  await moveTo(hand, shelf, someTag(hand, worker), image);
}

/** As a build that was halted: what it has pushed is used at about the time when it is collected. */
async function comeBackLate(hand: Hand, shelf: Shelf, worker: Worker): Promise<void> {
  const { dice, race } = hand;
  const blobs = Array.from({ length: 4 }, () => contentOf(dice.bytes(300)));
  const images = blobs.map((blob) =>
    imageOf({ blobs: [blob, dice.pick(race.pool.blobs)], nonce: nonceOf(hand, worker) }),
  );
  const withManifests = dice.chance(0.5);
  if (withManifests) for (const image of images) await pushManifest(hand, shelf, image);
  else for (const blob of blobs) await ensureBlob(hand, shelf.path, blob);
  await wait(race.graceMs + dice.below(1_500));
  const whole = withManifests
    ? indexOf({ children: images, nonce: nonceOf(hand, worker) })
    : imageOf({ blobs, nonce: nonceOf(hand, worker) });
  await pushManifest({ ...hand, lingers: true }, shelf, whole, dice.chance(0.5) ? someTag(hand, worker) : undefined);
}

/** To something that the client has known: what is gone meanwhile is pushed again. */
async function retag(hand: Hand, shelf: Shelf, worker: Worker): Promise<void> {
  const all = [...shelf.known.values()];
  if (all.length === 0) return pushImage(hand, shelf, worker);
  await moveTo(hand, shelf, someTag(hand, worker), hand.dice.pick(all).manifest);
}

async function moveTo(hand: Hand, shelf: Shelf, tag: string, manifest: Manifest): Promise<void> {
  const { race } = hand;
  const { digest } = manifest;
  const known = shelf.known.get(digest);
  const before = await send(hand, "HEAD", `/v2/${shelf.path}/manifests/${digest}`);
  if (before.status === 404) {
    if (needed(shelf).has(digest)) reportWrong(hand, `${digest} is needed and gone`);
    else if (known?.sure && nowMs() - known.touchedMs < race.graceMs)
      reportWrong(hand, `${digest} is gone before its grace was over`);
    await pushManifest(hand, shelf, manifest);
  } else if (known !== undefined) {
    // Who may push is promised half of the grace by a look.
    known.touchedMs = Math.max(known.touchedMs, before.sentMs - race.graceMs / 2);
    known.sure = true;
  }
  const uid = await uidOf(hand, shelf);
  if (uid === undefined) return;
  const sentMs = nowMs();
  const note = (sure: boolean): void =>
    change(shelf, { sentMs, doneMs: nowMs(), graceMs: race.graceMs }, () => noteMove(shelf, tag, digest, sure));
  const body = JSON.stringify({ name: tag, digest });
  const reply = await send(hand, "POST", `/registry/v2/tags/${uid}`, {
    headers: { "content-type": "application/json" },
    body,
  }).catch((error: unknown) => {
    note(false);
    throw error;
  });
  if (reply.status !== 200)
    return reportWrong(hand, `tag ${shelf.path}:${tag}: ${reply.status} ${reply.body.toString()}`);
  note(true);
}

async function uidOf(hand: Hand, shelf: Shelf): Promise<string | undefined> {
  const name = shelf.path.slice(shelf.path.lastIndexOf("/") + 1);
  const { repos } = await api<{ repos: { uid: string }[] }>(hand, "GET", `/registry/v2/repos?name=${name}`);
  return repos[0]?.uid;
}

export async function pullTag(hand: Hand, shelf: Shelf): Promise<void> {
  if (shelf.moves.size === 0) return;
  const tag = hand.dice.pick([...shelf.moves.keys()]);
  await checkTag({ ...hand, patient: true }, shelf, tag);
}

/** The tag points to what it may point to, and that is whole. */
export async function checkTag(hand: Hand, shelf: Shelf, tag: string): Promise<void> {
  const { race } = hand;
  const may = mayPointTo(shelf, tag);
  const sentMs = nowMs();
  const pulled = await pullWhole(hand, shelf.path, tag);
  const see = (digest: string, known?: Known): boolean => {
    let expected = false;
    change(shelf, { sentMs, doneMs: nowMs(), graceMs: race.graceMs }, () => {
      if (known !== undefined) notePush(shelf, known.manifest, sentMs, true);
      expected = noteSeen(shelf, tag, digest);
    });
    return expected;
  };
  if ("digest" in pulled) {
    const expected = see(pulled.digest, shelf.known.get(pulled.digest));
    if (!expected)
      reportWrong(hand, `${shelf.path}:${tag} points to ${pulled.digest}, not to ${[...may].join(" or ")}`);
  } else if (pulled.missing !== `manifest ${tag}`) {
    reportWrong(hand, `${shelf.path}:${tag} is not whole: no ${pulled.missing}`);
  } else if (may.has("")) {
    see("");
  } else if ([...may].every((digest) => shelf.known.get(digest)?.sure)) {
    reportWrong(hand, `${shelf.path}:${tag} is gone; it pointed to ${[...may].join(" or ")}`);
  }
}

async function pullNeeded(hand: Hand, shelf: Shelf): Promise<void> {
  const there = [...needed(shelf).keys()];
  if (there.length === 0) return;
  const digest = hand.dice.pick(there);
  const pulled = await pullWhole({ ...hand, patient: true }, shelf.path, digest);
  if ("missing" in pulled) reportWrong(hand, `${shelf.path}@${digest} is needed and not whole: no ${pulled.missing}`);
}

async function deleteTag(hand: Hand, shelf: Shelf): Promise<void> {
  if (shelf.moves.size === 0) return;
  const tag = hand.dice.pick([...shelf.moves.keys()]);
  await remove(hand, shelf, tag, mayPointTo(shelf, tag).has(""), (sure) => noteMove(shelf, tag, "", sure));
}

/** One of the client's own that nothing else of its own refers to; the oldest first. */
async function deleteManifest(hand: Hand, shelf: Shelf): Promise<void> {
  const children = new Set(
    [...shelf.known.values()].flatMap(({ manifest }) => manifest.children.map(({ digest }) => digest)),
  );
  const pooled = new Set(hand.race.pool.manifests.map(({ digest }) => digest));
  const unclear = new Set(
    [...shelf.moves.keys()]
      .map((tag) => mayPointTo(shelf, tag))
      .filter(({ size }) => size > 1)
      .flatMap((may) => [...may]),
  );
  const all = [...shelf.known.keys()].filter(
    (digest) => !children.has(digest) && !pooled.has(digest) && !unclear.has(digest),
  );
  if (all.length === 0) return;
  const digest = hand.dice.pick(all.slice(0, 5));
  const known = needed(shelf).get(digest);
  const sentMs = nowMs();
  await remove(hand, shelf, digest, known === undefined, (sure) => noteDeletion(shelf, digest, sure));
  if (known === undefined || hand.dice.chance(0.3)) return;
  await wait(hand.dice.below(hand.race.graceMs * 0.9));
  await checkGrace(hand, shelf.path, known.manifest.blobs, sentMs);
}

async function remove(
  hand: Hand,
  shelf: Shelf,
  reference: string,
  mayBeGone: boolean,
  edit: (sure: boolean) => void,
): Promise<void> {
  const sentMs = nowMs();
  const note = (sure: boolean): void =>
    change(shelf, { sentMs, doneMs: nowMs(), graceMs: hand.race.graceMs }, () => edit(sure));
  const reply = await send(hand, "DELETE", `/v2/${shelf.path}/manifests/${reference}`).catch((error: unknown) => {
    note(false);
    throw error;
  });
  const wasGone = reply.status === 404 && (mayBeGone || reply.retried);
  if (reply.status !== 202 && !wasGone)
    reportWrong(hand, `${shelf.path} ${reference}: ${reply.status} ${reply.body.toString()}`);
  note(true);
}

/** A blob that all clients push: its deletion is refused while content needs it. */
async function deleteBlob(hand: Hand, shelf: Shelf): Promise<void> {
  const { race, dice } = hand;
  const { digest } = dice.pick(race.pool.blobs);
  const owner = [...needed(shelf).values()].find(({ manifest }) =>
    manifest.blobs.some((blob) => blob.digest === digest),
  );
  const deletion = { path: shelf.path, digest, doneMs: Infinity };
  race.blobDeletions.push(deletion);
  // Whether a request that was given up will still be done is unknown: this one is repeated until it is answered.
  const reply = await send({ ...hand, patient: true }, "DELETE", `/v2/${shelf.path}/blobs/${digest}`);
  deletion.doneMs = nowMs();
  const lately = nowMs() - 60_000;
  race.blobDeletions = race.blobDeletions.filter(({ doneMs }) => doneMs > lately);
  const refused = reply.status === 405 && codeOf(reply) === "UNSUPPORTED";
  if (!refused && ![202, 404].includes(reply.status))
    reportWrong(hand, `DELETE of blob ${digest}: ${reply.status} ${reply.body.toString()}`);
  if (!refused && owner !== undefined)
    reportWrong(hand, `DELETE of blob ${digest}, which ${owner.manifest.digest} needs: ${reply.status}`);
  if (reply.status === 202) count(hand, "blobs deleted");
}

async function strayBlob(hand: Hand, shelf: Shelf): Promise<void> {
  await ensureBlob(hand, shelf.path, hand.dice.pick(someBlobs(hand.dice, hand.race.pool)));
}

async function mount(hand: Hand, shelf: Shelf): Promise<void> {
  await mountBlob(hand, shelf.path, hand.dice.pick(hand.paths), hand.dice.pick(hand.race.pool.blobs));
}

async function leaveUpload(hand: Hand, shelf: Shelf): Promise<void> {
  const begun = await send(hand, "POST", `/v2/${shelf.path}/blobs/uploads/`);
  if (begun.status === 202 && hand.dice.chance(0.7)) {
    await send(hand, "PATCH", String(begun.headers["location"]), {
      body: hand.dice.bytes(500),
      headers: { "content-type": "application/octet-stream" },
    });
  }
}

/** Its own, with all that is in it. */
async function deleteRepo(hand: Hand, _shelf: Shelf, { own }: Worker): Promise<void> {
  const patient = { ...hand, patient: true };
  const uid = await uidOf(patient, own);
  if (uid === undefined) return;
  const reply = await send(patient, "DELETE", `/registry/v2/repos/${uid}`);
  if (reply.status !== 200 && !(reply.status === 404 && reply.retried))
    reportWrong(hand, `DELETE of repo ${own.path}: ${reply.status} ${reply.body.toString()}`);
  for (const facts of [own.known, own.moves, own.named, own.perhapsNamed]) facts.clear();
}
