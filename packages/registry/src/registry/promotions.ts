import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import {
  Capability,
  type PromoteTagsRequest,
  PromoteTagsRequestSchema,
  type RollbackTagsRequest,
  RollbackTagsRequestSchema,
  type StaleFeedSchema,
  type TagPromotion,
  type TagRollback,
  type TagSchema,
} from "@moorage/api/messages";
import { timeViolations } from "@moorage/kernel/aip/times";
import { violationsOf } from "@moorage/kernel/aip/validate";
import type { Call } from "@moorage/kernel/core/call";
import {
  Code,
  failedPrecondition,
  type FieldViolation,
  invalidArgument,
  MoorageError,
  permissionDenied,
  type PreconditionViolation,
} from "@moorage/kernel/errors";
import { timestamp } from "@moorage/kernel/lib/timestamps";
import { statement } from "@moorage/kernel/store";
import { isReservedTag, RESERVED_TAG } from "./timed-tag.ts";
import { immutableTag } from "./policies.ts";
import { type MoveJudges, requirePromotable } from "./gated-moves.ts";
import { findTag, fixedDigest, moveTag, type TagMove, type TagPlace } from "./tag-moves.ts";

/** One of the moves of a request. */
interface Move {
  name: string;
  digest: string;
  place: TagPlace;
}
type Tags = MessageInitShape<typeof TagSchema>[];
/** What is answered: the tags, and what is not known of what the gate let pass. */
interface Promoted {
  tags: Tags;
  unknownImages: { tag: string; digest: string; reason: string; state: string }[];
  staleFeeds: MessageInitShape<typeof StaleFeedSchema>[];
}
type Requested = Pick<TagPromotion | TagRollback, "name" | "expectedDigest">;
/** The digest a tag moves to, or why there is none. */
type Target = { digest: string } | { violation: PreconditionViolation };

const DIGEST = /^(?:sha256:[a-f0-9]{64}|sha512:[a-f0-9]{128})$/;

/**
 * Makes several tags point to digests that the repo holds, all or none. Throws INVALID_ARGUMENT for an invalid request,
 * PERMISSION_DENIED if a tag is new and the caller may not create tags, ABORTED if a tag does not have the expected
 * digest, and FAILED_PRECONDITION with everything else that prevents the moves, the repo's vulnerability gate included.
 */
export async function promoteTags(call: Call, request: PromoteTagsRequest, judges: MoveJudges): Promise<Promoted> {
  return await moveTogether(call, request.repoUid, await promotedMoves(call, request), "promote", judges);
}

/** The moves that the request asks for. Throws what promoteTags throws, but for what the tags' policies say. */
export async function promotedMoves(call: Call, request: PromoteTagsRequest): Promise<Move[]> {
  const { repoUid: repo, promotions } = request;
  const violations = [
    ...violationsOf(PromoteTagsRequestSchema, request),
    ...requestViolations("promotions", promotions),
  ];
  for (const [at, { digest, fromTag }] of promotions.entries()) {
    if (digest === "" && fromTag === "")
      violations.push({ field: `promotions[${at}].digest`, description: "either this or fromTag is required" });
    if (digest !== "" && fromTag !== "")
      violations.push({ field: `promotions[${at}].fromTag`, description: "must not be set together with digest" });
  }
  if (violations.length > 0) throw invalidArgument(...violations);
  const placeOf = await findPlaces(
    call,
    repo,
    promotions.flatMap(({ name, fromTag }) => (fromTag === "" ? [name] : [name, fromTag])),
  );
  await requireExpected(call, repo, promotions, placeOf);
  // All sources are read before any tag moves, so that two tags can be swapped.
  const targets = promotions.map(({ digest, fromTag }): Target => {
    const source = digest === "" ? placeOf(fromTag).tag?.digest : digest;
    if (source !== undefined) return { digest: source };
    return {
      violation: { type: "TAG_MISSING", subject: fromTag, description: `there is no tag ${fromTag} to promote from` },
    };
  });
  return movesOf(promotions, targets, placeOf);
}

/** Makes several tags point to digests that they had before, all or none. Throws like promoteTags. */
export async function rollbackTags(call: Call, request: RollbackTagsRequest, judges: MoveJudges): Promise<Promoted> {
  return await moveTogether(call, request.repoUid, await rolledBackMoves(call, request), "rollback", judges);
}

/** The moves that the request asks for. Throws what rollbackTags throws, but for what the tags' policies say. */
export async function rolledBackMoves(call: Call, request: RollbackTagsRequest): Promise<Move[]> {
  const { repoUid: repo, rollbacks } = request;
  const violations = [
    ...violationsOf(RollbackTagsRequestSchema, request),
    ...requestViolations("rollbacks", rollbacks),
  ];
  for (const [at, { digest, time }] of rollbacks.entries()) {
    if (time === undefined) continue;
    if (digest !== "")
      violations.push({ field: `rollbacks[${at}].time`, description: "must not be set together with digest" });
    violations.push(...timeViolations({ [`rollbacks[${at}].time`]: time }));
  }
  if (violations.length > 0) throw invalidArgument(...violations);
  const placeOf = await findPlaces(
    call,
    repo,
    rollbacks.map(({ name }) => name),
  );
  await requireExpected(call, repo, rollbacks, placeOf);
  const targets: Target[] = [];
  for (const rollback of rollbacks) targets.push(await earlierDigest(call, repo, rollback, placeOf(rollback.name)));
  return movesOf(rollbacks, targets, placeOf);
}

function requestViolations(list: string, requested: readonly Requested[]): FieldViolation[] {
  const names = new Set<string>();
  return requested.flatMap(({ name, expectedDigest = "" }, at) => {
    const violations: FieldViolation[] = [];
    if (names.has(name)) violations.push({ field: `${list}[${at}].name`, description: "is named twice" });
    if (isReservedTag(name)) violations.push({ field: `${list}[${at}].name`, description: RESERVED_TAG });
    const isDigest = expectedDigest === "" || DIGEST.test(expectedDigest);
    if (!isDigest)
      violations.push({ field: `${list}[${at}].expectedDigest`, description: "must be a digest, or empty" });
    names.add(name);
    return violations;
  });
}

/** Finds the tags of these names, as they are before any move. Throws NOT_FOUND if the repo does not exist. */
async function findPlaces(call: Call, repo: string, names: string[]): Promise<(name: string) => TagPlace> {
  const places = new Map<string, TagPlace>();
  for (const name of new Set(names)) places.set(name, await findTag(call, repo, name));
  return (name) => {
    const place = places.get(name);
    if (place === undefined) throw new Error(`tag ${name} was not looked for`);
    return place;
  };
}

/**
 * Throws PERMISSION_DENIED, or else ABORTED if a tag does not have the expected digest. Rights are checked first, so
 * that a caller without them does not learn a tag's digest. The methods' rules require the right to move tags; creating
 * one takes the right to create tags as well.
 */
async function requireExpected(
  call: Call,
  repo: string,
  requested: readonly Requested[],
  placeOf: (name: string) => TagPlace,
): Promise<void> {
  if (
    requested.some(({ name }) => placeOf(name).tag === undefined) &&
    !(await call.may(Capability.CAP_TAG_CREATE, repo))
  ) {
    throw permissionDenied("the caller may not create tags here", { missing: "CAP_TAG_CREATE" });
  }
  const conflicts = requested.flatMap(({ name, expectedDigest }) => {
    const actual = placeOf(name).tag?.digest ?? "";
    return expectedDigest === undefined || expectedDigest === actual
      ? []
      : [{ tag: name, expected: expectedDigest, actual }];
  });
  const [first] = conflicts;
  if (first === undefined) return;
  const is = first.actual === "" ? "is not there" : `points to ${first.actual}`;
  const was = first.expected === "" ? "not to be there" : `to point to ${first.expected}`;
  throw new MoorageError(Code.Aborted, `Aborted: tag ${first.tag} ${is}, and was expected ${was}`, {
    metadata: { ...first, conflicts: conflicts.map(({ tag }) => tag).join(",") },
  });
}

const selectRecord = statement<{ digest: string }>(
  "select digest from tag_history where repo = ? and digest = ? and tag = ? limit 1",
);
const selectThen = statement<{ digest: string }>(
  "select digest from tag_history where repo = ? and tag = ? and time <= ? order by time desc limit 1",
);
const selectBefore = statement<{ digest: string }>(
  "select digest from tag_history where repo = ? and tag = ? and digest <> '' and digest <> ? order by time desc limit 1",
);

async function earlierDigest(
  call: Call,
  repo: string,
  { name, digest, time }: TagRollback,
  { tag }: TagPlace,
): Promise<Target> {
  const none = (description: string): Target => ({ violation: { type: "NOT_IN_HISTORY", subject: name, description } });
  if (digest !== "") {
    const [row] = await selectRecord(call.tx, repo, digest, name);
    return row ?? none(`tag ${name} never pointed to ${digest}`);
  }
  if (time !== undefined) {
    const [row] = await selectThen(call.tx, repo, name, floorMs(time));
    return row === undefined || row.digest === "" ? none(`tag ${name} pointed to nothing at that time`) : row;
  }
  // A deleted tag returns to its last digest: records before a deletion count.
  const [row] = await selectBefore(call.tx, repo, name, tag?.digest ?? "");
  return row ?? none(`tag ${name} pointed to no other digest before`);
}

// Rounds down: a record of the same millisecond is not later than the time.
function floorMs({ seconds, nanos }: Timestamp): number {
  return Number(seconds) * 1000 + Math.floor(nanos / 1_000_000);
}

/** The moves to the targets. Throws FAILED_PRECONDITION with the violations of all targets. */
function movesOf(
  requested: readonly Requested[],
  targets: readonly Target[],
  placeOf: (name: string) => TagPlace,
): Move[] {
  const violations = targets.flatMap((target) => ("violation" in target ? [target.violation] : []));
  if (violations.length > 0) throw failedPrecondition(...violations);
  return requested.flatMap(({ name }, at) => {
    const target = targets[at];
    return target === undefined || "violation" in target ? [] : [{ name, digest: target.digest, place: placeOf(name) }];
  });
}

async function moveTogether(
  call: Call,
  repo: string,
  moves: Move[],
  reason: TagMove["reason"],
  judges: MoveJudges,
): Promise<Promoted> {
  const held = new Set(
    (
      await call.tx
        .selectFrom("manifests")
        .select("digest")
        .where("repo", "=", repo)
        .where("digest", "in", [...new Set(moves.map(({ digest }) => digest))])
        .execute()
    ).map(({ digest }) => digest),
  );
  const violations: PreconditionViolation[] = [];
  for (const { name, digest, place } of moves) {
    const description = `the repo does not hold the manifest ${digest} for tag ${name}`;
    if (!held.has(digest)) violations.push({ type: "MANIFEST_MISSING", subject: digest, description });
    const fixedAt = await fixedDigest(call, repo, name, place);
    if (fixedAt !== undefined && fixedAt !== digest) violations.push(immutableTag(name, fixedAt));
  }
  if (violations.length > 0) throw failedPrecondition(...violations);
  const { unknown, stale } = await requirePromotable(call, repo, moves, judges);
  const tags: Tags = [];
  for (const { name, digest, place } of moves) {
    const { uid, updateTimeMs, deprecated, bundles } = await moveTag(call, { repo, name, digest, reason }, place);
    tags.push({
      uid,
      name,
      digest,
      updateTime: timestamp(updateTimeMs),
      deprecated,
      bundles: JSON.parse(bundles) as string[],
    });
  }
  return {
    tags,
    unknownImages: unknown.map(({ tag, digest, reason, state }) => ({ tag, digest, reason, state })),
    staleFeeds: stale.map(({ message }) => message),
  };
}
