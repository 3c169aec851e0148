import { type Config, checkInstallation } from "../../../src/index.ts";
import { type BlobStore, openBlobs } from "../../../src/blobs/index.ts";
import { openStore } from "../../../src/store/index.ts";
import { openClient } from "../api-client.ts";
import { count, giveBlob, type Hand, pullWhole, type Race, send, reportWrong } from "./client.ts";
import { contentOf, imageOf } from "./content.ts";
import { diceOf } from "../dice.ts";
import { needed, perhapsNeeded, type Shelf } from "./facts.ts";
import { checkTag, type Worker } from "./operations.ts";

// What must hold whenever no client works: everything needed is stored, byte for byte, and after a while nothing else.

const AT_ONCE = 6;

/** A client that repeats each request until it is answered, and does nothing else. */
export function checker(race: Race, url: string): Hand & { close(): void } {
  const client = openClient(url);
  return {
    race,
    client,
    dice: diceOf(race.seed, 999),
    patient: true,
    lingers: false,
    doing: "check",
    paths: [],
    close: () => client.close(),
  };
}

/** Pulls everything that some client has a right to find. Answers how many manifests that were. */
export async function checkNeeded(hand: Hand, workers: readonly Worker[]): Promise<number> {
  const shelves = workers.flatMap((worker) => worker.shelves);
  const seen = new Map<string, Set<string>>();
  let manifests = 0;
  await eachOf(shelves, async (shelf) => {
    for (const tag of shelf.moves.keys())
      await checkTag({ ...hand, doing: `check of ${shelf.path}:${tag}` }, shelf, tag);
    const seenHere = seen.get(shelf.path) ?? new Set();
    seen.set(shelf.path, seenHere);
    const there = needed(shelf);
    for (const digest of there.keys()) {
      manifests += 1;
      const pulled = await pullWhole(hand, shelf.path, digest, seenHere);
      if ("missing" in pulled)
        reportWrong(hand, `${shelf.path}@${digest} is needed and not whole: no ${pulled.missing}`);
      const referrers = [...there.values()]
        .filter(({ manifest }) => manifest.subject === digest)
        .map(({ manifest }) => manifest.digest);
      if (referrers.length > 0) await checkReferrers(hand, shelf, digest, referrers);
    }
  });
  return manifests;
}

async function checkReferrers(
  hand: Hand,
  { path }: Shelf,
  digest: string,
  referrers: readonly string[],
): Promise<void> {
  const reply = await send(hand, "GET", `/v2/${path}/referrers/${digest}`);
  const listed = (JSON.parse(reply.body.toString()) as { manifests: { digest: string }[] }).manifests.map(
    (each) => each.digest,
  );
  for (const referrer of referrers)
    if (!listed.includes(referrer)) reportWrong(hand, `${path}@${digest} has lost its referrer ${referrer}`);
}

/**
 * Pushes images without a tag while no process is killed. Returns the digests of their blobs, which no other image has.
 */
export async function pushGarbage(hand: Hand, path: string, rounds: number): Promise<string[]> {
  const pushed: string[] = [];
  for (let at = 0; at < 5; at++) {
    const blobs = [0, 1].map((which) => contentOf(diceOf(hand.race.seed, 998, rounds, at, which).bytes(1_000)));
    for (const blob of blobs) {
      await giveBlob(hand, path, blob);
      pushed.push(blob.digest);
    }
    const image = imageOf({ blobs });
    const reply = await send(hand, "PUT", `/v2/${path}/manifests/${image.digest}`, {
      headers: { "content-type": image.mediaType },
      body: image.bytes,
    });
    if (reply.status !== 201) reportWrong(hand, `garbage ${path}: ${reply.status} ${reply.body.toString()}`);
  }
  return pushed;
}

export interface Left {
  manifests: number;
  blobs: number;
}

/** Once its time is over, all that nobody needs must be gone. Forgets it then. Answers how much that was. */
export async function checkGone(hand: Hand, workers: readonly Worker[]): Promise<Left> {
  const { race } = hand;
  const gone: Left = { manifests: 0, blobs: 0 };
  const byPath = Map.groupBy(
    workers.flatMap((worker) => worker.shelves),
    ({ path }) => path,
  );
  await eachOf([...byPath], async ([path, shelves]) => {
    const stays = perhapsNeeded(shelves);
    const manifests = new Map(
      shelves.flatMap(({ known }) => [...known].map(([digest, { manifest }]) => [digest, manifest] as const)),
    );
    const blobs = new Set(race.pool.blobs.map(({ digest }) => digest));
    for (const manifest of manifests.values()) for (const { digest } of manifest.blobs) blobs.add(digest);
    for (const digest of stays) for (const blob of manifests.get(digest)?.blobs ?? []) blobs.delete(blob.digest);
    for (const digest of manifests.keys()) {
      if (stays.has(digest)) continue;
      await mustBeGone(hand, `/v2/${path}/manifests/${digest}`);
      gone.manifests += 1;
      for (const { known } of shelves) known.delete(digest);
    }
    for (const digest of blobs) {
      await mustBeGone(hand, `/v2/${path}/blobs/${digest}`);
      gone.blobs += 1;
    }
  });
  return gone;
}

/** Uses GET, because a client that sends HEAD may be about to use the content, which gives it a new grace. */
async function mustBeGone(hand: Hand, target: string): Promise<void> {
  const reply = await send(hand, "GET", target);
  count(hand, "looked for what must be gone");
  if (reply.status !== 404) reportWrong(hand, `${target} is there, and nobody needs it: ${reply.status}`);
}

/** The digests in the blob store, with their sizes in bytes. */
export async function storedBlobs(config: Config): Promise<Map<string, number>> {
  const blobs: BlobStore = await openBlobs(config);
  const found = new Map<string, number>();
  for await (const { digest, size } of blobs.listBlobs()) found.set(digest, size + (found.get(digest) ?? 0));
  return found;
}

/**
 * Database and blobs fit each other, to the last byte; what is being pushed, or a crash has left, is younger than an
 * upload may be. No index lacks anything either: the clients delete no manifest by its digest that they put into one.
 */
export async function checkStores(hand: Hand, config: Config): Promise<void> {
  const { findings } = await checkInstallation(
    { ...config, uploadTtlMs: 86_400_000 },
    { repair: false, deep: true },
    { progress() {}, note() {} },
  );
  for (const { kind, count: found, examples, notice } of findings) {
    if (!notice || kind === "index-without-manifest")
      reportWrong(hand, `fsck: ${kind} ${found} times: ${examples.join(", ")}`);
  }
}

/**
 * What is recorded must be what a repo may need. Answers what the blob store holds beyond that: a crash leaves it, and
 * the cleaning of uploads, which does not run within a race, takes it.
 */
export async function checkRecords(
  hand: Hand,
  workers: readonly Worker[],
  config: Config,
): Promise<{ blobs: number; bytes: number }> {
  const wanted = new Set<string>();
  for (const shelves of Map.groupBy(
    workers.flatMap((worker) => worker.shelves),
    ({ path }) => path,
  ).values()) {
    const stays = perhapsNeeded(shelves);
    const staying = shelves
      .flatMap(({ known }) => [...known.values()])
      .filter(({ manifest }) => stays.has(manifest.digest));
    for (const { digest } of staying.flatMap(({ manifest }) => manifest.blobs)) wanted.add(digest);
  }
  const store = await openStore(config);
  try {
    const rows = await store.reader.selectFrom("blobs").select("digest").execute();
    for (const { digest } of rows)
      if (!wanted.has(digest)) reportWrong(hand, `the record of blob ${digest} is there, and no repo needs it`);
  } finally {
    await store.close();
  }
  const left = [...(await storedBlobs(config))].filter(([digest]) => !wanted.has(digest));
  return { blobs: left.length, bytes: left.reduce((sum, [, size]) => sum + size, 0) };
}

async function eachOf<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
    }),
  );
}
