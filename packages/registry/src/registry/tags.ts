import { create } from "@bufbuild/protobuf";
import { Capability, type CreateTagRequest, type Tag, TagSchema, TagsService } from "@moorage/api/messages";
import { type RawBuilder, sql, type SqlBool } from "kysely";
import { columnIsIfSet, listStored, storedListOf } from "@moorage/kernel/aip/list";
import { sortable } from "@moorage/kernel/aip/order";
import { resource, storedGet } from "@moorage/kernel/aip/resource";
import { layoutOf } from "@moorage/kernel/core/stored-answer";
import { validate } from "@moorage/kernel/aip/validate";
import { milliseconds, timestamp } from "@moorage/kernel/lib/timestamps";
import type { Call } from "@moorage/kernel/core/call";
import { invalidArgument, notFound, permissionDenied } from "@moorage/kernel/errors";
import type { Service, ServiceContext } from "@moorage/kernel/core/service";
import { type MoveJudges, requirePromotable } from "./gated-moves.ts";
import { importMoves } from "./import-moves.ts";
import { promoteTags, rollbackTags } from "./promotions.ts";
import { listTagMoves } from "./tag-move-list.ts";
import { type FactsOfTags, judgeOfTags } from "./tag-filters.ts";
import { requireNotPulled } from "./pulls/delete-guard.ts";
import { tagKey } from "./tag-key.ts";
import { deleteTag, findTag, moveTag, requireUnprotected, type TagBefore, type TagPlace } from "./tag-moves.ts";

const LAYOUT = layoutOf(TagSchema);

export const tags = resource({
  message: TagSchema,
  table: "tags",
  toMessage: LAYOUT.ofRow,
  // Tags have no Update method: Create sets them, through moveTag.
  toRow: () => ({}),
});

const getTag = storedGet("tags", LAYOUT);
const LIST = storedListOf(
  {
    method: TagsService.method.listTags,
    table: "tags",
    defaultOrder: "name",
    orderBy: sortable("name", "digest", "deprecated", "create_time", "update_time", "uid"),
  },
  LAYOUT,
);

// Names of the forms `sha256-…`, `…-20yymmdd` and `…-r<number>`, in functions that both databases have. The last two
// are recognized by the digits at the end and by what is before them.
const BEFORE_DIGITS = sql`rtrim(t.name, '0123456789')`;
const IS_NO_REFERRER = sql<SqlBool>`substr(t.name, 1, 7) <> 'sha256-'`;
const HAS_NO_DATE = sql<SqlBool>`not (length(t.name) - length(${BEFORE_DIGITS}) = 8
  and substr(${BEFORE_DIGITS}, length(${BEFORE_DIGITS}), 1) = '-'
  and substr(t.name, length(${BEFORE_DIGITS}) + 1, 2) = '20')`;
const HAS_NO_EPOCH = sql<SqlBool>`not (length(t.name) > length(${BEFORE_DIGITS})
  and substr(${BEFORE_DIGITS}, length(${BEFORE_DIGITS}) - 1, 2) = '-r')`;

/** Whether the tag points to the image, directly or through an index. */
const pointsTo = (image: string): RawBuilder<SqlBool> =>
  sql`(t.digest = ${image} or exists (select 1 from manifest_references as r
    where r.repo = t.parent and r.digest = t.digest and r.kind = 'manifest' and r.target = ${image}))`;

/** `judges`: what findings and signatures say about promoting an image; `facts`: what they say of that of a tag. */
export function tagsService(
  { pageTokenKey, readBlob }: ServiceContext,
  judges: MoveJudges,
  facts: FactsOfTags,
): Service<typeof TagsService> {
  return {
    getTag: (call, { uid }) => getTag(call.tx, uid),
    listTags: (call, request) =>
      listStored(call, pageTokenKey, LIST, request, {
        filters: ({ name, digest, updatedSince, includeReferrers, includeDates, includeEpochs, image }) => [
          ...(includeReferrers === false ? [IS_NO_REFERRER] : []),
          ...(includeDates === false ? [HAS_NO_DATE] : []),
          ...(includeEpochs === false ? [HAS_NO_EPOCH] : []),
          ...columnIsIfSet("name", name),
          ...columnIsIfSet("digest", digest),
          ...(image === "" ? [] : [pointsTo(image)]),
          ...(updatedSince === undefined ? [] : [sql`t.update_time >= ${milliseconds(updatedSince)}`]),
        ],
        foundBy: ({ name, digest, updatedSince }) =>
          name !== "" ? "name" : digest !== "" ? "digest" : updatedSince && "update_time",
        judge: (inForce) => judgeOfTags(call, readBlob, inForce, facts),
      }),
    listTagMoves: (call, request) => listTagMoves(call, pageTokenKey, request),
    async createTag(call, { parent, tag = create(TagSchema) }) {
      const place = await findTag(call, parent, tag.name);
      // Without a digest a tag that is there keeps the one that it points to now.
      const kept = tag.digest === "" && (call.replaces !== undefined || place.tag !== undefined);
      if (call.replaces !== undefined && place.tag?.uid !== call.replaces)
        throw notFound(TagSchema.typeName, call.replaces);
      const given = kept ? { ...tag, digest: place.tag?.digest ?? "" } : tag;
      validate(TagSchema, given);
      const { name, digest } = given;
      await requireMove(call, parent, digest, place.tag);
      const expires = await requireEnd(call, parent, given, place);
      await requirePromotable(call, parent, [{ name, digest, place }], judges);
      const { uid, updateTimeMs, deprecated, expireMs } = await moveTag(
        call,
        { repo: parent, name, digest, reason: "api", deprecated: tag.deprecated, bundles: tag.bundles, ...expires },
        place,
      );
      const expireTime = expireMs === null ? {} : { expireTime: timestamp(expireMs) };
      return {
        uid,
        name,
        digest,
        updateTime: timestamp(updateTimeMs),
        deprecated,
        bundles: tag.bundles,
        ...expireTime,
      };
    },
    async deleteTag(call, { uid, unlessPulledWithin }) {
      const { parent, name, digest } = await tags.get(call.tx, uid);
      await requireNotPulled(call, { repo: parent, tag: { name, digest } }, unlessPulledWithin);
      await deleteTag(call, { repo: parent, name, reason: "delete" });
      return {};
    },
    promoteTags: (call, request) => promoteTags(call, request, judges),
    rollbackTags: (call, request) => rollbackTags(call, request, judges),
    importMoves: (call, request) => importMoves(call, request, judges),
  };
}

/**
 * What a call of CreateTag changes. It reads rights, the repo, and the tag and its history; it writes the tag, its
 * history and what is only appended to or counted, so calls for different tags do not meet, and of cached answers only
 * those of the tag fall.
 */
export function keyOfCreateTag({ parent, tag }: CreateTagRequest): string | undefined {
  return tag === undefined ? undefined : tagKey(parent, tag.name);
}

/**
 * When the tag is to end, for its move. Throws PERMISSION_DENIED for a caller who may not delete tags, INVALID_ARGUMENT
 * for a time that is past, and FAILED_PRECONDITION where the repo's policy protects the tag.
 */
async function requireEnd(
  call: Call,
  repo: string,
  { name, digest, expireTime }: Tag,
  { tag: before, policy }: TagPlace,
): Promise<{ expireMs?: number | null }> {
  const had = before?.digest === digest ? before.expire_time : null;
  // What replaces a tag in v1 knows no ends.
  const expireMs = expireTime === undefined ? (call.replaces === undefined ? null : had) : milliseconds(expireTime);
  if (expireMs === had) return { expireMs };
  if (!(await call.may(Capability.CAP_TAG_DELETE, repo)))
    throw permissionDenied("the caller may not delete tags here, nor say when they end", { missing: "CAP_TAG_DELETE" });
  if (expireMs === null) return { expireMs };
  if (expireMs <= call.nowMs) throw invalidArgument({ field: "tag.expire_time", description: "must be in the future" });
  requireUnprotected(policy, name);
  return { expireMs };
}

// The method's rule requires the right to create tags; to change an existing tag takes the right to move tags as well.
async function requireMove(call: Call, repo: string, digest: string, before: TagBefore): Promise<void> {
  if (before === undefined || before.digest === digest || (await call.may(Capability.CAP_TAG_UPDATE, repo))) return;
  throw permissionDenied("the caller may not move tags here", { missing: "CAP_TAG_UPDATE" });
}
