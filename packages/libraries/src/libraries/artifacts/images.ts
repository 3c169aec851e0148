import {
  ArtifactSchema,
  type ArtifactsService,
  Capability as C,
  type ListArtifactImagesRequest,
  ListArtifactImagesRequestSchema,
} from "@moorage/api/messages";
import { DEFAULT_PAGE_SIZE } from "@moorage/kernel/aip/page-query";
import { openPosition, type Paged, pagedBy, sealPosition } from "@moorage/kernel/aip/positions";
import { scopeOf } from "@moorage/kernel/aip/scope";
import { violationsOf } from "@moorage/kernel/aip/validate";
import type { Call } from "@moorage/kernel/core/call";
import type { Service } from "@moorage/kernel/core/service";
import { invalidArgument, notFound } from "@moorage/kernel/errors";
import { timestamp } from "@moorage/kernel/lib/timestamps";
import { imagePaths } from "@moorage/registry/registry";
import {
  countTagged,
  heldSince,
  heldVersions,
  libraryKey,
  platformsOf,
  type TaggedImage,
  taggedImages,
  type TaggedPosition,
} from "@moorage/security/security";
import { libraryOf } from "./purls.ts";

type Answer = Awaited<ReturnType<Service<typeof ArtifactsService>["listArtifactImages"]>>;

const NEEDS = [C.CAP_REPO_LIST, C.CAP_TAG_LIST, C.CAP_MANIFEST_METADATA_LIST] as const;
const MAX_PAGE_SIZE = 200;
const MAX_SKIP = 10_000;

/** The tags that point to images which hold the artifact, of repos where the caller may list what is in them. */
export async function listArtifactImages(
  call: Call,
  pageTokenKey: Uint8Array,
  request: ListArtifactImagesRequest,
): Promise<Answer> {
  const { artifactId, version, uidp, pageSize, skip, pageToken } = request;
  requireValid(request);
  const artifact = await call.tx
    .selectFrom("artifacts")
    .select(["ecosystem", "normalized"])
    .where("uid", "=", artifactId)
    .executeTakeFirst();
  if (artifact === undefined) throw notFound(ArtifactSchema.typeName, artifactId);
  const paged: Paged = pagedBy(
    ListArtifactImagesRequestSchema,
    { ...request, skip: 0 },
    "artifact_id, version or uidp",
  );
  const after = openPosition(call, pageTokenKey, paged, pageToken)?.map(String);
  const scope = scopeOf(uidp, await call.visible(...NEEDS));
  const held = await heldVersions(call.tx, libraryKey(libraryOf(artifact)), version);
  const isEmpty = held.size === 0 || scope.roots.length === 0;
  const total = isEmpty ? 0 : await countTagged(call.tx, held, scope);
  call.requireCaller();
  const { rows, next } = isEmpty
    ? { rows: [], next: undefined }
    : await taggedImages(call.tx, held, scope, {
        after: after === undefined ? undefined : positionIn(after),
        size: Math.min(pageSize || DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE),
        skip,
      });
  return {
    artifactImages: await messagesOf(call, rows, await heldSince(call.tx, held, rows)),
    nextPageToken: next === undefined ? "" : sealPosition(call, pageTokenKey, paged, [...next]),
    ...(total !== undefined && { totalCount: BigInt(total) }),
    skipped: skip,
  };
}

function requireValid(request: ListArtifactImagesRequest): void {
  const { pageSize, skip, version } = request;
  const violations = [
    ...violationsOf(ListArtifactImagesRequestSchema, request),
    ...(pageSize < 0 ? [{ field: "page_size", description: "must not be negative" }] : []),
    ...(skip < 0 || skip > MAX_SKIP ? [{ field: "skip", description: `must be from 0 to ${MAX_SKIP}` }] : []),
    ...(version.includes("\0") ? [{ field: "version", description: "must not have a null character" }] : []),
  ];
  if (violations.length > 0) throw invalidArgument(...violations);
}

function positionIn([digest = "", repo = "", tag = "", version = ""]: readonly string[]): TaggedPosition {
  return [digest, repo, tag, version];
}

async function messagesOf(call: Call, rows: readonly TaggedImage[], since: readonly (number | undefined)[]) {
  const paths = await imagePaths(call.tx).ofUids(rows.map(({ repo }) => repo));
  const platforms = await platformsOf(call.tx, rows);
  return rows.map((row, at) => {
    const sinceMs = since[at];
    return {
      ...row,
      image: paths.get(row.repo) ?? "",
      platform: platforms[at] ?? "",
      ...(sinceMs !== undefined && { sinceTime: timestamp(sinceMs) }),
    };
  });
}
