import { FindingState, type ListFindingsRequest, ListFindingsRequestSchema } from "@moorage/api/messages";
import { DEFAULT_PAGE_SIZE } from "@moorage/kernel/aip/page-query";
import { openPosition, pagedBy, type Paged, sealPosition } from "@moorage/kernel/aip/positions";
import type { Scope } from "@moorage/kernel/aip/scope";
import type { Call } from "@moorage/kernel/core/call";
import { milliseconds } from "@moorage/kernel/lib/timestamps";
import { createTurns } from "@moorage/kernel/lib/turns";
import { invalidArgument } from "@moorage/kernel/errors";
import { wantedPackages } from "../packages/candidates.ts";
import { matches } from "./filters.ts";
import { type ImageName, nameOf, type TagsOfImage, tagsOfImages } from "../images/images.ts";
import { platformsOfImages } from "../images/platforms.ts";
import { comparePositions, type FindingPosition, findingsOfImage, type ImageFinding, positionOf } from "./read.ts";
import { weighFindings } from "../images/weights.ts";
import type { KnownVulnerabilities } from "./vulnerabilities.ts";
import { type Batch, imagesByRepo, imagesWith } from "../images/walk.ts";

/** A finding with the image that has it, and the tags that point to that. */
export interface ListedFinding extends ImageName {
  finding: ImageFinding;
  tags: TagsOfImage;
  /** As an index names the image, such as `linux/amd64`; empty where none does. */
  platform: string;
}

/** Which images a list goes through. */
export interface ListedImages {
  scope: Scope;
  /** Only these, whether a tag points to them or not, by repos and then by digests. */
  only?: readonly ImageName[];
}

const MAX_PAGE_SIZE = 200;
// A page ends after so many images were read, and after so many were looked at, however few findings they had.
const MAX_READ = 100;
const MAX_LOOKED = 5_000;

const NO_TAGS: TagsOfImage = { names: [], total: 0 };

/** Behind all findings of an image. */
const END: FindingPosition = ["\u{10FFFF}", "", ""];

interface Position extends ImageName {
  after: FindingPosition;
}

/**
 * A page of findings, in an order in which each page continues by an index: by repos and digests, or, when the packages
 * are few, by digests and repos; within an image by packages and vulnerabilities. It may be short, or empty, although
 * more follow.
 */
export async function listFindings(
  call: Call,
  key: Uint8Array,
  request: ListFindingsRequest,
  { scope, only }: ListedImages,
): Promise<{ rows: ListedFinding[]; nextPageToken: string }> {
  if (request.pageSize < 0) throw invalidArgument({ field: "page_size", description: "must not be negative" });
  const size = Math.min(request.pageSize || DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE);
  const { tx } = call;
  const paged = pagedBy(ListFindingsRequestSchema, request, "filter");
  let position = readPosition(call, key, paged, request.pageToken);
  const packages = await wantedPackages(tx, request);
  const atMs = request.asOf === undefined ? undefined : milliseconds(request.asOf);
  const state = request.state === FindingState.CLOSED ? "closed" : "open";
  const known: KnownVulnerabilities = new Map();
  const rows: ListedFinding[] = [];
  const page = (isMore: boolean): { rows: ListedFinding[]; nextPageToken: string } => ({
    rows,
    nextPageToken: isMore ? sealPosition(call, key, paged, [position.repo, position.digest, ...position.after]) : "",
  });
  let read = 0;
  let looked = 0;
  // A page may read many images; pulls of this process do not wait for all of them.
  const turn = createTurns();
  const from = { repo: position.repo, digest: position.digest };
  const batches =
    only !== undefined
      ? these(only, from)
      : packages === undefined
        ? imagesByRepo(tx, scope, from)
        : imagesWith(tx, packages, scope, from);
  for await (const { images, last } of batches) {
    await turn();
    call.requireCaller();
    if (looked >= MAX_LOOKED) return page(true);
    const tags = await tagsOfImages(tx, images, atMs);
    const platforms = await platformsOfImages(tx, images);
    for (const image of images) {
      if (only === undefined && !tags.has(nameOf(image))) continue;
      if (read >= MAX_READ) return page(true);
      read += 1;
      const isBegun = image.repo === position.repo && image.digest === position.digest;
      const after = isBegun ? position.after : undefined;
      const asked = {
        ...image,
        state,
        ...(atMs !== undefined && { atMs }),
        ...(packages !== undefined && { packages }),
      } as const;
      const sources = await weighFindings(call, asked);
      const platform = platforms.get(nameOf(image)) ?? "";
      for (const finding of (await findingsOfImage(tx, { ...asked, sources }, known, call)) ?? []) {
        if (after !== undefined && comparePositions(positionOf(finding), after) <= 0) continue;
        if (!matches(finding, request)) continue;
        if (rows.length === size) return page(true);
        rows.push({ ...image, finding, tags: tags.get(nameOf(image)) ?? NO_TAGS, platform });
        position = { ...image, after: positionOf(finding) };
      }
      position = { ...image, after: END };
      await turn();
    }
    position = { ...last, after: END };
    looked += images.length;
  }
  return page(false);
}

async function* these(images: readonly ImageName[], from: ImageName): AsyncGenerator<Batch> {
  const left = images.filter(({ repo, digest }) => repo > from.repo || (repo === from.repo && digest >= from.digest));
  const last = left.at(-1);
  if (last !== undefined) yield { images: left, last };
}

/** Throws INVALID_ARGUMENT on `page_token` for a token that was not given for this list and these filters. */
function readPosition(call: Call, key: Uint8Array, paged: Paged, pageToken: string): Position {
  const [repo = "", digest = "", ...after] = (openPosition(call, key, paged, pageToken) ?? []).map(String);
  return { repo, digest, after: [after[0] ?? "", after[1] ?? "", after[2] ?? ""] };
}
