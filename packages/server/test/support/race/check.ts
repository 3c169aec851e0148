import { type Config, checkInstallation } from "../../../src/index.ts";
import { type BlobStore, openBlobs } from "../../../../kernel/src/blobs/index.ts";
import { openStore } from "../../../../kernel/src/store/index.ts";
import { openClient } from "../api-client.ts";
import { count, giveBlob, type OperationContext, pullWhole, type Race, send, reportWrong } from "./client.ts";
import { contentOf, imageOf } from "./content.ts";
import { diceOf } from "../dice.ts";
import { needed, perhapsNeeded, type RepoFacts } from "./facts.ts";
import { checkTag, type Worker } from "./operations.ts";

// What must hold whenever no client works: everything needed is stored, byte for byte, and after a while nothing else.

const CHECK_CONCURRENCY = 6;

/** A client that repeats each request until it is answered, and does nothing else. */
export function checker(race: Race, url: string): OperationContext & { close(): void } {
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

/** Pulls everything that must be stored according to the clients. Returns the number of manifests pulled. */
export async function checkNeeded(context: OperationContext, workers: readonly Worker[]): Promise<number> {
  const repos = workers.flatMap((worker) => worker.repos);
  const seen = new Map<string, Set<string>>();
  let manifests = 0;
  await eachOf(repos, async (repo) => {
    for (const tag of repo.moves.keys())
      await checkTag({ ...context, doing: `check of ${repo.path}:${tag}` }, repo, tag);
    const seenHere = seen.get(repo.path) ?? new Set();
    seen.set(repo.path, seenHere);
    const there = needed(repo);
    for (const digest of there.keys()) {
      manifests += 1;
      const pulled = await pullWhole(context, repo.path, digest, seenHere);
      if ("missing" in pulled)
        reportWrong(context, `${repo.path}@${digest} is needed and not whole: no ${pulled.missing}`);
      const referrers = [...there.values()]
        .filter(({ manifest }) => manifest.subject === digest)
        .map(({ manifest }) => manifest.digest);
      if (referrers.length > 0) await checkReferrers(context, repo, digest, referrers);
    }
  });
  return manifests;
}

async function checkReferrers(
  context: OperationContext,
  { path }: RepoFacts,
  digest: string,
  referrers: readonly string[],
): Promise<void> {
  const reply = await send(context, "GET", `/v2/${path}/referrers/${digest}`);
  const listed = (JSON.parse(reply.body.toString()) as { manifests: { digest: string }[] }).manifests.map(
    (each) => each.digest,
  );
  for (const referrer of referrers)
    if (!listed.includes(referrer)) reportWrong(context, `${path}@${digest} has lost its referrer ${referrer}`);
}

/**
 * Pushes images without a tag while no process is killed. Returns the digests of their blobs, which no other image has.
 */
export async function pushGarbage(context: OperationContext, path: string, rounds: number): Promise<string[]> {
  const pushed: string[] = [];
  for (let at = 0; at < 5; at++) {
    const blobs = [0, 1].map((which) => contentOf(diceOf(context.race.seed, 998, rounds, at, which).bytes(1_000)));
    for (const blob of blobs) {
      await giveBlob(context, path, blob);
      pushed.push(blob.digest);
    }
    const image = imageOf({ blobs });
    const reply = await send(context, "PUT", `/v2/${path}/manifests/${image.digest}`, {
      headers: { "content-type": image.mediaType },
      body: image.bytes,
    });
    if (reply.status !== 201) reportWrong(context, `garbage ${path}: ${reply.status} ${reply.body.toString()}`);
  }
  return pushed;
}

export interface Left {
  manifests: number;
  blobs: number;
}

/**
 * Checks that content without references is gone, which holds once the grace is over, and removes it from the clients'
 * facts. Returns how much was checked.
 */
export async function checkGone(context: OperationContext, workers: readonly Worker[]): Promise<Left> {
  const { race } = context;
  const gone: Left = { manifests: 0, blobs: 0 };
  const byPath = Map.groupBy(
    workers.flatMap((worker) => worker.repos),
    ({ path }) => path,
  );
  await eachOf([...byPath], async ([path, repos]) => {
    const stays = perhapsNeeded(repos);
    const manifests = new Map(
      repos.flatMap(({ known }) => [...known].map(([digest, { manifest }]) => [digest, manifest] as const)),
    );
    const blobs = new Set(race.pool.blobs.map(({ digest }) => digest));
    for (const manifest of manifests.values()) for (const { digest } of manifest.blobs) blobs.add(digest);
    for (const digest of stays) for (const blob of manifests.get(digest)?.blobs ?? []) blobs.delete(blob.digest);
    for (const digest of manifests.keys()) {
      if (stays.has(digest)) continue;
      await mustBeGone(context, `/v2/${path}/manifests/${digest}`);
      gone.manifests += 1;
      for (const { known } of repos) known.delete(digest);
    }
    for (const digest of blobs) {
      await mustBeGone(context, `/v2/${path}/blobs/${digest}`);
      gone.blobs += 1;
    }
  });
  return gone;
}

/** Uses GET, because a client that sends HEAD may be about to use the content, which gives it a new grace. */
async function mustBeGone(context: OperationContext, target: string): Promise<void> {
  const reply = await send(context, "GET", target);
  count(context, "checked that content is gone");
  if (reply.status !== 404) reportWrong(context, `${target} is stored without need: ${reply.status}`);
}

/** The digests in the blob store, with their sizes in bytes. */
export async function storedBlobs(config: Config): Promise<Map<string, number>> {
  const blobs: BlobStore = await openBlobs(config);
  const found = new Map<string, number>();
  for await (const { digest, size } of blobs.listBlobs()) found.set(digest, size + (found.get(digest) ?? 0));
  return found;
}

/**
 * Runs a deep fsck: the database and the blob store must match byte for byte. The longer upload TTL keeps fsck from
 * reporting what a crash has left. Indexes must be complete too, because the clients never delete a manifest by digest
 * that one of their indexes names.
 */
export async function checkStores(context: OperationContext, config: Config): Promise<void> {
  const { findings } = await checkInstallation(
    { ...config, uploadTtlMs: 86_400_000 },
    { repair: false, deep: true },
    { progress() {}, note() {} },
  );
  for (const { kind, count: found, examples, notice } of findings) {
    if (!notice || kind === "sparse-index")
      reportWrong(context, `fsck: ${kind} ${found} times: ${examples.join(", ")}`);
  }
}

/**
 * Checks that the table `blobs` names only content that a repo may need. Returns how much more the blob store holds:
 * crashes leave such blobs, and the cleaning of uploads, which does not run during a race, removes them.
 */
export async function checkRecords(
  context: OperationContext,
  workers: readonly Worker[],
  config: Config,
): Promise<{ blobs: number; bytes: number }> {
  const wanted = new Set<string>();
  for (const repos of Map.groupBy(
    workers.flatMap((worker) => worker.repos),
    ({ path }) => path,
  ).values()) {
    const stays = perhapsNeeded(repos);
    const staying = repos
      .flatMap(({ known }) => [...known.values()])
      .filter(({ manifest }) => stays.has(manifest.digest));
    for (const { digest } of staying.flatMap(({ manifest }) => manifest.blobs)) wanted.add(digest);
  }
  const store = await openStore(config);
  try {
    const rows = await store.reader.selectFrom("blobs").select("digest").execute();
    for (const { digest } of rows)
      if (!wanted.has(digest)) reportWrong(context, `the record of blob ${digest} is stored, and no repo needs it`);
  } finally {
    await store.close();
  }
  const left = [...(await storedBlobs(config))].filter(([digest]) => !wanted.has(digest));
  return { blobs: left.length, bytes: left.reduce((sum, [, size]) => sum + size, 0) };
}

async function eachOf<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  await Promise.all(
    Array.from({ length: CHECK_CONCURRENCY }, async () => {
      for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
    }),
  );
}
