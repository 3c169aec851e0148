import { createHash, randomBytes } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { Logger } from "pino";
import type { BlobStore, StoredBlob } from "@moorage/kernel/blobs";
import { OCI_MANIFEST } from "@moorage/kernel/core/media-types";
import { systemCallNow } from "@moorage/kernel/core/system-call";
import type { Transactor } from "@moorage/kernel/core/transactor";
import { MAX_ROWS_HERE, TooHeavyHere } from "@moorage/kernel/core/written-answer";
import { Code, MoorageError } from "@moorage/kernel/errors";
import type { Clock } from "@moorage/kernel/lib/clock";
import { isoTime } from "@moorage/kernel/lib/timestamps";
import { parseManifest, settleCopy, type StoredManifest } from "@moorage/registry/oci";
import { imageVexOf, type MadeVex, madeVex, OPENVEX, OWN_VEX_REPO } from "@moorage/security/security";
import { type Database, select } from "@moorage/kernel/store";
import { attachedVex, putVexReferrer } from "./put-vex-referrer.ts";

export interface VexDeps {
  transactor: Transactor;
  reader: Database;
  blobs: Pick<BlobStore, "startUpload" | "append" | "contentSize" | "noted" | "remove" | "removeUpload">;
  clock: Clock;
  log: Logger;
  /** Makes the VEX of a large image in another process. */
  vexElsewhere: VexElsewhere;
}

export type VexElsewhere = (place: Place, image: { repo: string; digest: string }) => Promise<MadeVex>;

/** Where the installation is: its URL, and that of its registry. */
interface Place {
  baseUrl: string;
  registryUrl: string;
}

interface Renewed {
  written: number;
  removed: number;
}

const EMPTY = "application/vnd.oci.empty.v1+json";
/** The annotation with which a referrer says what its document says: see ImageVex. */
const CONTENT = "dev.moorage.vex.content";
const PASSED_OVER: readonly Code[] = [Code.NotFound, Code.FailedPrecondition];
const PAGE = 100;
// For each second that reading takes, a pass waits so many, so that it never is much of what the server does.
const PAUSE_FACTOR = 4;
const MAX_PAUSE_MS = 1_000;

/**
 * One pass over all images that tags point to, directly or through an index: attaches their VEX where it is not
 * attached, renews what says something else now, and removes what nobody says any more. `signal` ends it between two
 * images, and it rejects then; the next pass begins anew, and writes nothing again. Answers undefined when nothing was
 * to be done.
 */
export async function renewVexReferrers(
  deps: VexDeps,
  place: Place,
  signal: AbortSignal,
): Promise<Renewed | undefined> {
  const renewed: Renewed = { written: 0, removed: 0 };
  for await (const { repo, digest } of imagesOfTags(deps.reader)) {
    signal.throwIfAborted();
    const startedMs = performance.now();
    try {
      await renewOne(deps, place, { repo, digest }, renewed);
    } catch (error) {
      // The image may be gone since, or have more to say than a document holds; the others go on.
      if (!(error instanceof MoorageError) || !PASSED_OVER.includes(error.code)) throw error;
      deps.log.debug({ err: error, repo, digest }, "the VEX of an image was not renewed");
    }
    await wait(Math.min((performance.now() - startedMs) * PAUSE_FACTOR, MAX_PAUSE_MS), undefined, { signal });
  }
  return renewed.written + renewed.removed === 0 ? undefined : renewed;
}

/** The images that tags point to, and those of indexes among them; one of several indexes more than once. */
async function* imagesOfTags(reader: Database): AsyncGenerator<{ repo: string; digest: string }> {
  for (let after: string | undefined = ""; after !== undefined;) {
    const repos = await reader
      .selectFrom("repos")
      .select("uid")
      .where("uid", ">", after)
      .orderBy("uid")
      .limit(PAGE)
      .execute();
    for (const { uid: repo } of repos) yield* imagesOfRepo(reader, repo);
    after = repos.length < PAGE ? undefined : repos.at(-1)?.uid;
  }
}

async function* imagesOfRepo(reader: Database, repo: string): AsyncGenerator<{ repo: string; digest: string }> {
  for (let after: string | undefined = ""; after !== undefined;) {
    const rows: { digest: string }[] = await select<{ digest: string }>(
      reader,
      `select distinct digest from tags where parent = ? and digest > ? order by digest limit ${PAGE}`,
      [repo, after],
    );
    for (const { digest } of rows) {
      yield { repo, digest };
      const below = await reader
        .selectFrom("manifest_references")
        .select("target")
        .where("repo", "=", repo)
        .where("digest", "=", digest)
        .where("kind", "=", "manifest")
        .orderBy("target")
        .execute();
      for (const { target } of below) yield { repo, digest: target };
    }
    after = rows.length < PAGE ? undefined : rows.at(-1)?.digest;
  }
}

/** The VEX of an image, made in another process when the image is large. */
async function vexOf(
  { transactor, clock, vexElsewhere }: VexDeps,
  place: Place,
  image: { repo: string; digest: string },
): Promise<MadeVex> {
  const weigh = (rows: number): void => {
    if (rows > MAX_ROWS_HERE) throw new TooHeavyHere(rows);
  };
  try {
    return await transactor.read(systemCallNow(clock), async ({ tx }) =>
      madeVex(await imageVexOf({ tx, weigh }, image, place)),
    );
  } catch (error) {
    if (!(error instanceof TooHeavyHere)) throw error;
    return await vexElsewhere(place, image);
  }
}

async function renewOne(
  deps: VexDeps,
  place: Place,
  { repo, digest: subject }: { repo: string; digest: string },
  renewed: Renewed,
): Promise<void> {
  const { transactor, blobs, clock } = deps;
  const vex = await vexOf(deps, place, { repo, digest: subject });
  const attached = await transactor.read(systemCallNow(clock), ({ tx }) => attachedVex(tx, repo, subject));
  // While it is not known what the image holds, what was said before stays.
  if (!vex.isKnown) return;
  const isRight = ({ annotations }: { annotations: string }): boolean =>
    (JSON.parse(annotations) as Record<string, string>)[CONTENT] === vex.content;
  if (vex.document === undefined) {
    if (attached.length > 0)
      renewed.removed += (await transactor.write(putVexReferrer, systemCallNow(clock), { repo, subject })).removed;
    return;
  }
  if (attached.some(isRight)) return;
  const made = await makeReferrer(blobs, { repo, subject, vex, document: vex.document }, transactor, clock);
  const { generations } = await transactor.write(putVexReferrer, systemCallNow(clock), { repo, subject, made });
  // Undefined: the image is gone, and nothing was written. Otherwise the same content may have been stored before.
  for (const [at, blob] of made.blobs.entries()) await settleCopy(deps, blob, generations?.[at]);
  if (generations !== undefined) renewed.written += 1;
}

/** Stores the contents of the referrer, and makes its manifest. Source: OCI image specification v1.1, artifacts. */
async function makeReferrer(
  blobs: VexDeps["blobs"],
  { repo, subject, vex, document }: { repo: string; subject: string; vex: MadeVex; document: Uint8Array },
  transactor: Transactor,
  clock: Clock,
): Promise<{ stored: StoredManifest; blobs: StoredBlob[] }> {
  const image = await transactor.read(systemCallNow(clock), ({ tx }) =>
    tx
      .selectFrom("manifests")
      .select(["media_type", "size"])
      .where("repo", "=", repo)
      .where("digest", "=", subject)
      .executeTakeFirst(),
  );
  if (image === undefined) throw new MoorageError(Code.NotFound, `Not found: ${subject}`);
  const empty = await storeBytes(blobs, Buffer.from("{}"));
  const content = await storeBytes(blobs, Buffer.from(document));
  const bytes = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: OCI_MANIFEST,
      artifactType: OPENVEX,
      config: { mediaType: EMPTY, digest: empty.digest, size: empty.size },
      layers: [
        {
          mediaType: OPENVEX,
          digest: content.digest,
          size: content.size,
          // The name of the file that clients write it to.
          annotations: { "org.opencontainers.image.title": "openvex.json" },
        },
      ],
      subject: { mediaType: image.media_type, digest: subject, size: image.size },
      annotations: {
        "org.opencontainers.image.created": isoTime(vex.changedMs),
        [OWN_VEX_REPO]: repo,
        [CONTENT]: vex.content,
      },
    }),
  );
  const manifest = parseManifest(bytes, OCI_MANIFEST);
  if ("problem" in manifest) throw new Error(manifest.problem);
  return { stored: { digest: digestOf(bytes), content: bytes, manifest }, blobs: [empty, content] };
}

async function storeBytes(blobs: VexDeps["blobs"], bytes: Buffer): Promise<StoredBlob> {
  const upload = randomBytes(16).toString("hex");
  await blobs.startUpload(upload);
  try {
    const { blob } = await blobs.append(upload, 0, once(bytes), {
      algorithm: "sha256",
      length: bytes.length,
      finishAs: digestOf(bytes),
    });
    if (blob === undefined) throw new Error("the upload did not become a blob");
    return blob;
  } catch (error) {
    await blobs.removeUpload(upload).catch(() => {});
    throw error;
  }
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

const digestOf = (bytes: Uint8Array): string => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
