import { setTimeout as wait } from "node:timers/promises";
import { openClient } from "../api-client.ts";
import {
  api,
  checkGrace,
  codeOf,
  count,
  ensureBlob,
  GivenUp,
  type OperationContext,
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
  newRepoFacts,
  noteDeletion,
  noteMove,
  notePush,
  noteSeen,
  type RepoFacts,
} from "./facts.ts";

/**
 * One client of the race, with what it knows of the repos that all clients share and of a repo of its own, which it
 * sometimes deletes.
 */
export interface Worker {
  number: number;
  repos: RepoFacts[];
  own: RepoFacts;
  steps: number;
}

export interface Shared {
  path: string;
  history: "ever" | "short";
}

/** One kind of operation, on a repo that was picked at random. */
type Operation = (context: OperationContext, repo: RepoFacts, worker: Worker) => Promise<void>;

const TAGS = ["a", "b", "c"];
const MOST_KNOWN = 120;
const LONGEST_PAUSE_MS = 60;

const OPERATIONS: readonly { name: string; weight: number; run: Operation }[] = [
  { name: "push an image", weight: 26, run: pushImage },
  { name: "push an index", weight: 10, run: pushIndex },
  { name: "push shared content", weight: 12, run: pushPooled },
  { name: "attach referrers", weight: 12, run: attach },
  { name: "push first, tag later", weight: 6, run: tagLater },
  { name: "come back late", weight: 12, run: comeBackLate },
  { name: "retag", weight: 10, run: retag },
  { name: "pull a tag", weight: 12, run: pullTag },
  { name: "pull a digest", weight: 8, run: pullNeeded },
  { name: "delete a tag", weight: 4, run: deleteTag },
  { name: "delete a manifest", weight: 6, run: deleteManifest },
  { name: "delete a blob", weight: 6, run: deleteBlob },
  { name: "push a blob without a manifest", weight: 5, run: strayBlob },
  { name: "mount a blob", weight: 5, run: mount },
  { name: "leave an upload", weight: 1, run: leaveUpload },
  { name: "delete a repo", weight: 2, run: deleteRepo },
];
const ALL = OPERATIONS.flatMap((operation) => Array.from({ length: operation.weight }, () => operation));

export function newWorker(number: number, organization: string, shared: readonly Shared[]): Worker {
  const own = newRepoFacts(`${organization}/apps/own-${number}`, "ever");
  return { number, own, repos: [...shared.map(({ path, history }) => newRepoFacts(path, history)), own], steps: 0 };
}

/**
 * Performs operations until the round is over. What a step does is determined by the seed, the worker's number and the
 * step's number.
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
      const repo = dice.pick(worker.repos);
      const doing = `worker ${worker.number} step ${step} (${operation.name} in ${repo.path})`;
      const context: OperationContext = {
        race,
        client,
        dice,
        paths,
        patient: dice.chance(0.75),
        lingers: false,
        doing,
      };
      try {
        await (repo.known.size > MOST_KNOWN ? deleteManifest : operation.run)(context, repo, worker);
        count(context, operation.name);
      } catch (error) {
        if (!(error instanceof GivenUp)) reportWrong(context, String(error));
        count(context, "given up");
      }
      await wait(dice.below(LONGEST_PAUSE_MS));
    }
    return { trouble: client.trouble.connections + client.trouble.unavailable };
  } finally {
    client.close();
  }
}

function nonceOf(context: OperationContext, worker: Worker): string {
  return `${worker.number}-${worker.steps}-${context.dice.below(1_000_000)}`;
}

/** A tag with this client as its only writer. */
function someTag(context: OperationContext, worker: Worker): string {
  return `w${worker.number}-${context.dice.pick(TAGS)}`;
}

async function pushImage(context: OperationContext, repo: RepoFacts, worker: Worker): Promise<void> {
  const image = imageOf({ blobs: someBlobs(context.dice, context.race.pool), nonce: nonceOf(context, worker) });
  await pushManifest(context, repo, image, context.dice.chance(0.65) ? someTag(context, worker) : undefined);
}

async function pushIndex(context: OperationContext, repo: RepoFacts, worker: Worker): Promise<void> {
  const { dice, race } = context;
  const known = [...repo.known.values()].map(({ manifest }) => manifest).filter(({ subject }) => subject === "");
  const children = Array.from({ length: 1 + dice.below(3) }, (): Manifest => {
    if (known.length > 0 && dice.chance(0.4)) return dice.pick(known);
    return dice.chance(0.3)
      ? dice.pick(race.pool.manifests)
      : imageOf({ blobs: someBlobs(dice, race.pool), nonce: nonceOf(context, worker) });
  });
  await pushManifest(
    context,
    repo,
    indexOf({ children, nonce: nonceOf(context, worker) }),
    dice.chance(0.7) ? someTag(context, worker) : undefined,
  );
}

async function pushPooled(context: OperationContext, repo: RepoFacts, worker: Worker): Promise<void> {
  await pushManifest(
    context,
    repo,
    context.dice.pick(context.race.pool.manifests),
    context.dice.chance(0.6) ? someTag(context, worker) : undefined,
  );
}

/** Pushes a referrer, usually of a needed manifest, and in half of the cases a referrer of that referrer. */
async function attach(context: OperationContext, repo: RepoFacts, worker: Worker): Promise<void> {
  const { dice, race } = context;
  const there = [...needed(repo).values()];
  let subject =
    there.length > 0 && dice.chance(0.8)
      ? dice.pick(there).manifest
      : imageOf({ blobs: someBlobs(dice, race.pool), nonce: nonceOf(context, worker) });
  if (!repo.known.has(subject.digest)) await pushManifest(context, repo, subject);
  for (let count = 1 + dice.below(2); count > 0; count--) {
    const referrer = imageOf({ blobs: someBlobs(dice, race.pool), subject, nonce: nonceOf(context, worker) });
    await pushManifest(context, repo, referrer, dice.chance(0.1) ? someTag(context, worker) : undefined);
    subject = referrer;
  }
}

/** Pushes by digest and tags later, like a build that signs before it releases. */
async function tagLater(context: OperationContext, repo: RepoFacts, worker: Worker): Promise<void> {
  const { dice, race } = context;
  const image = imageOf({ blobs: someBlobs(dice, race.pool), nonce: nonceOf(context, worker) });
  await pushManifest(context, repo, image);
  await wait(dice.below(race.graceMs));
  await moveTo(context, repo, someTag(context, worker), image);
}

/** Uses pushed content at about the time of its collection, like a build that was halted. */
async function comeBackLate(context: OperationContext, repo: RepoFacts, worker: Worker): Promise<void> {
  const { dice, race } = context;
  const blobs = Array.from({ length: 4 }, () => contentOf(dice.bytes(300)));
  const images = blobs.map((blob) =>
    imageOf({ blobs: [blob, dice.pick(race.pool.blobs)], nonce: nonceOf(context, worker) }),
  );
  const withManifests = dice.chance(0.5);
  if (withManifests) for (const image of images) await pushManifest(context, repo, image);
  else for (const blob of blobs) await ensureBlob(context, repo.path, blob);
  await wait(race.graceMs + dice.below(1_500));
  const whole = withManifests
    ? indexOf({ children: images, nonce: nonceOf(context, worker) })
    : imageOf({ blobs, nonce: nonceOf(context, worker) });
  await pushManifest(
    { ...context, lingers: true },
    repo,
    whole,
    dice.chance(0.5) ? someTag(context, worker) : undefined,
  );
}

/** Sets a tag to a known manifest, which is pushed again if it has been collected. */
async function retag(context: OperationContext, repo: RepoFacts, worker: Worker): Promise<void> {
  const all = [...repo.known.values()];
  if (all.length === 0) return pushImage(context, repo, worker);
  await moveTo(context, repo, someTag(context, worker), context.dice.pick(all).manifest);
}

async function moveTo(context: OperationContext, repo: RepoFacts, tag: string, manifest: Manifest): Promise<void> {
  const { race } = context;
  const { digest } = manifest;
  const known = repo.known.get(digest);
  const before = await send(context, "HEAD", `/v2/${repo.path}/manifests/${digest}`);
  if (before.status === 404) {
    if (needed(repo).has(digest)) reportWrong(context, `${digest} is needed and gone`);
    else if (known?.sure && nowMs() - known.touchedMs < race.graceMs)
      reportWrong(context, `${digest} is gone before its grace is over`);
    await pushManifest(context, repo, manifest);
  } else if (known !== undefined) {
    // The HEAD extends the retention to at least half of the grace.
    known.touchedMs = Math.max(known.touchedMs, before.sentMs - race.graceMs / 2);
    known.sure = true;
  }
  const uid = await uidOf(context, repo);
  if (uid === undefined) return;
  const sentMs = nowMs();
  const note = (sure: boolean): void =>
    change(repo, { sentMs, doneMs: nowMs(), graceMs: race.graceMs }, () => noteMove(repo, tag, digest, sure));
  const body = JSON.stringify({ name: tag, digest });
  const reply = await send(context, "POST", `/registry/v2/tags/${uid}`, {
    headers: { "content-type": "application/json" },
    body,
  }).catch((error: unknown) => {
    note(false);
    throw error;
  });
  if (reply.status !== 200)
    return reportWrong(context, `tag ${repo.path}:${tag}: ${reply.status} ${reply.body.toString()}`);
  note(true);
}

async function uidOf(context: OperationContext, repo: RepoFacts): Promise<string | undefined> {
  const name = repo.path.slice(repo.path.lastIndexOf("/") + 1);
  const { repos } = await api<{ repos: { uid: string }[] }>(context, "GET", `/registry/v2/repos?name=${name}`);
  return repos[0]?.uid;
}

async function pullTag(context: OperationContext, repo: RepoFacts): Promise<void> {
  if (repo.moves.size === 0) return;
  const tag = context.dice.pick([...repo.moves.keys()]);
  await checkTag({ ...context, patient: true }, repo, tag);
}

/** Checks that the tag points to an expected digest, and that everything it refers to is stored. */
export async function checkTag(context: OperationContext, repo: RepoFacts, tag: string): Promise<void> {
  const { race } = context;
  const may = mayPointTo(repo, tag);
  const sentMs = nowMs();
  const pulled = await pullWhole(context, repo.path, tag);
  const see = (digest: string, known?: Known): boolean => {
    let expected = false;
    change(repo, { sentMs, doneMs: nowMs(), graceMs: race.graceMs }, () => {
      if (known !== undefined) notePush(repo, known.manifest, sentMs, true);
      expected = noteSeen(repo, tag, digest);
    });
    return expected;
  };
  if ("digest" in pulled) {
    const expected = see(pulled.digest, repo.known.get(pulled.digest));
    if (!expected)
      reportWrong(context, `${repo.path}:${tag} points to ${pulled.digest}, not to ${[...may].join(" or ")}`);
  } else if (pulled.missing !== `manifest ${tag}`) {
    reportWrong(context, `${repo.path}:${tag} is not whole: no ${pulled.missing}`);
  } else if (may.has("")) {
    see("");
  } else if ([...may].every((digest) => repo.known.get(digest)?.sure)) {
    reportWrong(context, `${repo.path}:${tag} is gone; it pointed to ${[...may].join(" or ")}`);
  }
}

async function pullNeeded(context: OperationContext, repo: RepoFacts): Promise<void> {
  const there = [...needed(repo).keys()];
  if (there.length === 0) return;
  const digest = context.dice.pick(there);
  const pulled = await pullWhole({ ...context, patient: true }, repo.path, digest);
  if ("missing" in pulled) reportWrong(context, `${repo.path}@${digest} is needed and not whole: no ${pulled.missing}`);
}

async function deleteTag(context: OperationContext, repo: RepoFacts): Promise<void> {
  if (repo.moves.size === 0) return;
  const tag = context.dice.pick([...repo.moves.keys()]);
  await remove(context, repo, tag, mayPointTo(repo, tag).has(""), (sure) => noteMove(repo, tag, "", sure));
}

/** Deletes one of the oldest manifests of this client that none of its other manifests refers to. */
async function deleteManifest(context: OperationContext, repo: RepoFacts): Promise<void> {
  const children = new Set(
    [...repo.known.values()].flatMap(({ manifest }) => manifest.children.map(({ digest }) => digest)),
  );
  const pooled = new Set(context.race.pool.manifests.map(({ digest }) => digest));
  const unclear = new Set(
    [...repo.moves.keys()]
      .map((tag) => mayPointTo(repo, tag))
      .filter(({ size }) => size > 1)
      .flatMap((may) => [...may]),
  );
  const all = [...repo.known.keys()].filter(
    (digest) => !children.has(digest) && !pooled.has(digest) && !unclear.has(digest),
  );
  if (all.length === 0) return;
  const digest = context.dice.pick(all.slice(0, 5));
  const known = needed(repo).get(digest);
  const sentMs = nowMs();
  await remove(context, repo, digest, known === undefined, (sure) => noteDeletion(repo, digest, sure));
  if (known === undefined || context.dice.chance(0.3)) return;
  await wait(context.dice.below(context.race.graceMs * 0.9));
  await checkGrace(context, repo.path, known.manifest.blobs, sentMs);
}

async function remove(
  context: OperationContext,
  repo: RepoFacts,
  reference: string,
  mayBeGone: boolean,
  edit: (sure: boolean) => void,
): Promise<void> {
  const sentMs = nowMs();
  const note = (sure: boolean): void =>
    change(repo, { sentMs, doneMs: nowMs(), graceMs: context.race.graceMs }, () => edit(sure));
  const reply = await send(context, "DELETE", `/v2/${repo.path}/manifests/${reference}`).catch((error: unknown) => {
    note(false);
    throw error;
  });
  const wasGone = reply.status === 404 && (mayBeGone || reply.retried);
  if (reply.status !== 202 && !wasGone)
    reportWrong(context, `${repo.path} ${reference}: ${reply.status} ${reply.body.toString()}`);
  note(true);
}

/** A blob that all clients push: its deletion is refused while content needs it. */
async function deleteBlob(context: OperationContext, repo: RepoFacts): Promise<void> {
  const { race, dice } = context;
  const { digest } = dice.pick(race.pool.blobs);
  const owner = [...needed(repo).values()].find(({ manifest }) =>
    manifest.blobs.some((blob) => blob.digest === digest),
  );
  const deletion = { path: repo.path, digest, doneMs: Infinity };
  race.blobDeletions.push(deletion);
  // Whether a request that was given up will still be done is unknown: this one is repeated until it is answered.
  const reply = await send({ ...context, patient: true }, "DELETE", `/v2/${repo.path}/blobs/${digest}`);
  deletion.doneMs = nowMs();
  const lately = nowMs() - 60_000;
  race.blobDeletions = race.blobDeletions.filter(({ doneMs }) => doneMs > lately);
  const refused = reply.status === 405 && codeOf(reply) === "UNSUPPORTED";
  if (!refused && ![202, 404].includes(reply.status))
    reportWrong(context, `DELETE of blob ${digest}: ${reply.status} ${reply.body.toString()}`);
  if (!refused && owner !== undefined)
    reportWrong(context, `DELETE of blob ${digest}, which ${owner.manifest.digest} needs: ${reply.status}`);
  if (reply.status === 202) count(context, "blobs deleted");
}

async function strayBlob(context: OperationContext, repo: RepoFacts): Promise<void> {
  await ensureBlob(context, repo.path, context.dice.pick(someBlobs(context.dice, context.race.pool)));
}

async function mount(context: OperationContext, repo: RepoFacts): Promise<void> {
  await mountBlob(context, repo.path, context.dice.pick(context.paths), context.dice.pick(context.race.pool.blobs));
}

async function leaveUpload(context: OperationContext, repo: RepoFacts): Promise<void> {
  const begun = await send(context, "POST", `/v2/${repo.path}/blobs/uploads/`);
  if (begun.status === 202 && context.dice.chance(0.7)) {
    await send(context, "PATCH", String(begun.headers["location"]), {
      body: context.dice.bytes(500),
      headers: { "content-type": "application/octet-stream" },
    });
  }
}

/** Deletes the worker's own repo with its content. */
async function deleteRepo(context: OperationContext, _shelf: RepoFacts, { own }: Worker): Promise<void> {
  const patient = { ...context, patient: true };
  const uid = await uidOf(patient, own);
  if (uid === undefined) return;
  const reply = await send(patient, "DELETE", `/registry/v2/repos/${uid}`);
  if (reply.status !== 200 && !(reply.status === 404 && reply.retried))
    reportWrong(context, `DELETE of repo ${own.path}: ${reply.status} ${reply.body.toString()}`);
  for (const facts of [own.known, own.moves, own.named, own.perhapsNamed]) facts.clear();
}
