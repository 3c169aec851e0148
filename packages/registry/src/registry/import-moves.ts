import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type ImportedMove,
  type ImportMovesRequest,
  ImportMovesRequestSchema,
  type ImportMovesResponseSchema,
} from "@moorage/api/messages";
import { timeViolations } from "@moorage/kernel/aip/times";
import { violationsOf } from "@moorage/kernel/aip/validate";
import type { Call } from "@moorage/kernel/core/call";
import { failedPrecondition, type FieldViolation, invalidArgument } from "@moorage/kernel/errors";
import { milliseconds } from "@moorage/kernel/lib/timestamps";
import { statement } from "@moorage/kernel/store";
import { type MoveJudges, type PromotedTag, requirePromotable } from "./gated-moves.ts";
import { type ImportedRecord, type ImportedTag, storeImportedTag, storeTagCount } from "./imported-tags.ts";
import { standsForRegistry } from "./stand-ins.ts";
import { findTag, requireMovable, type TagPlace } from "./tag-moves.ts";
import { isReservedTag, RESERVED_TAG } from "./timed-tag.ts";

type Response = MessageInitShape<typeof ImportMovesResponseSchema>;
/** A move of the request, its time in whole milliseconds. */
interface GivenMove {
  digest: string;
  timeMs: number;
  /** Its place in the request. */
  at: number;
}

const selectOther = statement<{ one: number }>(
  "select 1 as one from tag_history where repo = ? and tag = ? and reason <> 'import' limit 1",
);

/**
 * Adds moves to the histories of the tags that have no others, all or none. Throws INVALID_ARGUMENT for an invalid
 * request, times in the future included, NOT_FOUND when the repo does not exist, and FAILED_PRECONDITION when the
 * repo's policy, its gate or a quota prevents what a tag would point to in the end.
 */
export async function importMoves(call: Call, request: ImportMovesRequest, judges: MoveJudges): Promise<Response> {
  const { repoUid: repo, source } = request;
  const tags = await importedTags(call, request);
  const origin = tags.find(({ place }) => place.origin !== undefined)?.place.origin;
  if (origin !== undefined) throw failedPrecondition(standsForRegistry(repo, origin));
  const ends = endsOf(tags);
  for (const { name, digest, place } of ends) await requireMovable(call, { repo, name, digest }, place);
  await requirePromotable(call, repo, ends, judges);
  let created = 0;
  for (const tag of tags) created += await storeImportedTag(call, { repo, source }, tag);
  await storeTagCount(call, repo, created);
  const imported = tags.reduce((sum, { records }) => sum + records.length, 0);
  return { imported, kept: request.moves.length - imported };
}

/** What gates judge of the request: what its tags would point to. Throws what importMoves throws for the request. */
export async function importedEnds(call: Call, request: ImportMovesRequest): Promise<PromotedTag[]> {
  return endsOf(await importedTags(call, request));
}

function endsOf(tags: readonly ImportedTag[]): PromotedTag[] {
  return tags.flatMap(({ name, place, records }) => {
    const digest = records.at(-1)?.digest ?? "";
    return digest === "" ? [] : [{ name, digest, place }];
  });
}

async function importedTags(call: Call, request: ImportMovesRequest): Promise<ImportedTag[]> {
  const violations = violationsOf(ImportMovesRequestSchema, request);
  if (violations.length > 0) throw invalidArgument(...violations);
  const given = movesByTag(call, request.moves);
  const tags: ImportedTag[] = [];
  for (const [name, moves] of given) {
    const place = await findTag(call, request.repoUid, name);
    const records = (await takesImports(call, request.repoUid, name, place)) ? recordsOf(place, moves) : [];
    tags.push({ name, place, records });
  }
  requirePast(call, tags);
  return tags;
}

/** The moves of each tag. Throws INVALID_ARGUMENT that names the moves that are wrong. */
function movesByTag(call: Call, moves: readonly ImportedMove[]): Map<string, GivenMove[]> {
  const violations: FieldViolation[] = [];
  const found = new Map<string, GivenMove[]>();
  for (const [at, { tag, digest, time }] of moves.entries()) {
    const field = `moves[${at}].time`;
    if (isReservedTag(tag)) violations.push({ field: `moves[${at}].tag`, description: RESERVED_TAG });
    const wrong = timeViolations({ [field]: time });
    violations.push(...wrong);
    if (time === undefined || wrong.length > 0) continue;
    const timeMs = Math.floor(milliseconds(time));
    const before = found.get(tag)?.at(-1);
    const fault = faultOf(timeMs, before, call.nowMs);
    if (fault !== undefined) violations.push({ field, description: fault });
    const move = { digest, timeMs, at };
    if (before === undefined) found.set(tag, [move]);
    else found.get(tag)?.push(move);
  }
  if (violations.length > 0) throw invalidArgument(...violations);
  return found;
}

function faultOf(timeMs: number, before: GivenMove | undefined, nowMs: number): string | undefined {
  if (timeMs > nowMs) return "must not be in the future";
  if (timeMs < 0) return "must not be before 1970: such a time stands for one that is not known";
  if (before !== undefined && timeMs < before.timeMs)
    return `must not be before that of moves[${before.at}], which is of the same tag`;
  return undefined;
}

/** Whether the tag has no moves but imported ones. */
async function takesImports(call: Call, repo: string, name: string, { tag, lastTime }: TagPlace): Promise<boolean> {
  if (lastTime === null) return tag === undefined;
  return (await selectOther(call.tx, repo, name)).length === 0;
}

/** Those moves that come after what is there and lead elsewhere, at times that differ. */
function recordsOf({ tag, lastTime }: TagPlace, moves: readonly GivenMove[]): ImportedRecord[] {
  const records: ImportedRecord[] = [];
  let digest = tag?.digest ?? "";
  let last = lastTime ?? -1;
  for (const move of moves) {
    if (move.digest === digest || (lastTime !== null && move.timeMs <= lastTime)) continue;
    last = Math.max(move.timeMs, last + 1);
    digest = move.digest;
    records.push({ digest, timeMs: last, at: move.at });
  }
  return records;
}

/** Throws INVALID_ARGUMENT when moves of one time would be put into the future. */
function requirePast(call: Call, tags: readonly ImportedTag[]): void {
  const late = tags.flatMap(({ records }) => records.filter(({ timeMs }) => timeMs > call.nowMs));
  if (late.length === 0) return;
  throw invalidArgument(
    ...late.map(({ at }) => ({
      field: `moves[${at}].time`,
      description: "must not be in the future, where moves at the same time before it put it",
    })),
  );
}
