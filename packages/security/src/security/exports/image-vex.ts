import { createHash } from "node:crypto";
import { isIndexType } from "@moorage/kernel/core/media-types";
import { pathOf } from "@moorage/kernel/core/image-path";
import { failedPrecondition, notFound } from "@moorage/kernel/errors";
import { parentOf } from "@moorage/kernel/lib/uid";
import type { Call } from "@moorage/kernel/core/call";
import { countingSources } from "../attached/sources.ts";
import { imagesBehind } from "../images/images.ts";
import { placesOf } from "../images/weights.ts";
import { indexed, packagesIn } from "./image-packages.ts";
import { imageStatements, isAnythingSaid, lastSaidMs } from "./image-statements.ts";
import { imageOpenVex, openVexStatements, type StatedImage, type StatedImages } from "./image-openvex.ts";
import { type Place, publisherOf } from "./publisher.ts";
import type { SaidOf } from "./statement.ts";

/** The most images of one index that are looked at, and the most that one document says. */
const MAX_IMAGES = 200;
const MAX_STATEMENTS = 20_000;
const MAX_PACKAGES = 200_000;

/** Each is grouped, written and sorted. */
const ROWS_A_STATEMENT = 4;

const NO_PACKAGES = indexed([]);

/** The VEX of an image, with what it was made of. */
export interface ImageVex {
  /** The OpenVEX document; undefined when nothing is said. */
  document?: object;
  /** Equal for documents that say the same, whatever their versions and times. Empty without a document. */
  content: string;
  /** Whether it is known what the image holds, or something is said of it as a whole. */
  isKnown: boolean;
  /** When something of it was last said or taken back, in milliseconds since 1970. */
  changedMs: number;
}

/**
 * The VEX of an image of the repo, or of all images of an index, without the notes of advisories unless they may be
 * read. Throws NOT_FOUND when the repo does not hold it, and
 * FAILED_PRECONDITION for more than a document holds.
 */
export async function imageVexOf(
  call: Reading,
  { repo, digest }: { repo: string; digest: string },
  place: Place,
  mayReadNotes: SaidOf["mayReadNotes"] = () => false,
): Promise<ImageVex> {
  const { tx } = call;
  const stated = await statedOf(call, repo, digest, mayReadNotes);
  const { changedMs, images } = stated;
  const isKnown = images.length > 0;
  const publisher = await publisherOf({ tx }, parentOf(repo), place);
  const statements = openVexStatements(stated, publisher);
  if (statements.length === 0) return { content: "", isKnown, changedMs };
  const document = imageOpenVex(stated, publisher, statements);
  const same = JSON.stringify({ ...document, timestamp: "", version: 0 });
  return { document, content: createHash("sha256").update(same).digest("hex"), isKnown, changedMs };
}

/** The VEX of an image with its document as JSON. */
export interface MadeVex extends Omit<ImageVex, "document"> {
  document?: Uint8Array;
}

export function madeVex({ document, ...vex }: ImageVex): MadeVex {
  return { ...vex, ...(document !== undefined && { document: Buffer.from(JSON.stringify(document)) }) };
}

type Reading = Pick<Call, "tx" | "weigh">;

async function statedOf(
  { tx, weigh }: Reading,
  repo: string,
  digest: string,
  mayReadNotes: SaidOf["mayReadNotes"],
): Promise<StatedImages> {
  const row = await tx
    .selectFrom("manifests")
    .select(["media_type", "architecture"])
    .where("repo", "=", repo)
    .where("digest", "=", digest)
    .executeTakeFirst();
  if (row === undefined) throw notFound("moorage.registry.v2.Image", digest);
  const path = await pathOf(tx, repo);
  const digests = isIndexType(row.media_type) ? [...new Set(await imagesBehind(tx, repo, digest))] : [digest];
  if (digests.length > MAX_IMAGES) throw tooMuch(digest, `names more than ${MAX_IMAGES} images`);
  let isSaid = false;
  for (const each of digests) isSaid ||= await isAnythingSaid(tx, repo, each);
  const images: StatedImage[] = [];
  const count = { statements: 0, packages: 0 };
  for (const each of digests) {
    if (isSaid) {
      const sources = await countingSources(tx, { repo, digest: each });
      weigh(
        await placesOf(
          tx,
          each,
          sources.map(({ source }) => source),
        ),
      );
    }
    const image = await statedImage({ tx, weigh }, { repo, path, digest: each, isSaid, mayReadNotes });
    // An index without an SBOM of its own, and what stands beside images in one, hold nothing.
    if (image === undefined) continue;
    images.push(image);
    weigh(image.statements.length * ROWS_A_STATEMENT);
    for (const { packages } of image.statements) {
      count.statements += 1;
      count.packages += packages === "all" ? 0 : packages.length;
    }
    if (count.statements > MAX_STATEMENTS || count.packages > MAX_PACKAGES)
      throw tooMuch(
        digest,
        `has more than ${MAX_STATEMENTS} statements, or they name more than ${MAX_PACKAGES} packages`,
      );
  }
  return { repo, path, digest, images, changedMs: await lastSaidMs(tx, repo, digests) };
}

/** Undefined when it is not known what the image holds, and nothing is said of it as a whole. */
async function statedImage(
  { tx, weigh }: Reading,
  { isSaid, ...image }: Omit<SaidOf, "architecture" | "packages"> & { isSaid: boolean },
): Promise<StatedImage | undefined> {
  const { repo, digest } = image;
  const row = await tx
    .selectFrom("manifests")
    .select("architecture")
    .where("repo", "=", repo)
    .where("digest", "=", digest)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const architecture = row.architecture ?? "";
  const sources = (await countingSources(tx, { repo, digest })).map(({ source }) => source);
  const packages = sources.length === 0 || !isSaid ? NO_PACKAGES : await packagesIn(tx, digest, sources);
  const statements = isSaid ? await imageStatements(tx, { ...image, architecture, packages }, { weigh }) : [];
  if (sources.length === 0 && statements.length === 0) return undefined;
  return { digest, architecture, statements, purls: new Set(packages.all.map(({ purl }) => purl)) };
}

const tooMuch = (subject: string, problem: string): Error =>
  failedPrecondition({ type: "TOO_MANY_STATEMENTS", subject, description: `the image ${problem}` });
