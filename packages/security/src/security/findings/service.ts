import {
  Capability,
  FindingSeverity,
  type FindingsService,
  FindingState,
  FixState,
  GetCoverageRequestSchema,
  KnowledgeState,
  type ListFindingsRequest,
  ListFindingsRequestSchema,
  ListUnknownImagesRequestSchema,
  RepoSchema,
  TagSchema,
} from "@moorage/api/messages";
import { type Scope, scopeOf } from "@moorage/kernel/aip/scope";
import { timeViolations } from "@moorage/kernel/aip/times";
import { validate } from "@moorage/kernel/aip/validate";
import type { Call } from "@moorage/kernel/core/call";
import { isIndexType } from "@moorage/kernel/core/media-types";
import type { Service, ServiceContext } from "@moorage/kernel/core/service";
import { invalidArgument, notFound } from "@moorage/kernel/errors";
import { milliseconds, timestamp } from "@moorage/kernel/lib/timestamps";
import { createTurns } from "@moorage/kernel/lib/turns";
import { isWithin } from "@moorage/kernel/lib/uid";
import { repoOfReport, repos } from "@moorage/registry/registry";
import type { AdvisoryDecision } from "./decisions.ts";
import { knowledgeBehind, leastKnown, type PlatformKnowledge } from "../coverage/index-knowledge.ts";
import { listFindingDays } from "../finding-days/list.ts";
import { listUnknownImages } from "../coverage/list-unknown.ts";
import { coverageMessage, staleMessage, unknownImageMessage, unknownMessage } from "../coverage/messages.ts";
import { type Uncompared, uncomparedIn } from "../coverage/uncompared-packages.ts";
import { unknownInScope } from "../coverage/scope-summary.ts";
import { isAnyFeed } from "../coverage/spaces.ts";
import { staleFeeds } from "../coverage/stale-feeds.ts";
import { manifestOf } from "../coverage/images.ts";
import { imagesIn } from "../images/holdings.ts";
import { type ImageName, imagesBehind } from "../images/images.ts";
import { type ListedFinding, type ListedImages, listFindings } from "./list.ts";
import { reposWith } from "../images/walk.ts";

const NEEDS = [Capability.CAP_REPO_LIST, Capability.CAP_TAG_LIST, Capability.CAP_MANIFEST_METADATA_LIST] as const;

/** In so many repos a list about a digest without a repo looks. */
const MAX_REPOS = 1_000;

/** Findings of images: docs/vulnerabilities.md. */
export function findingsService({ pageTokenKey }: ServiceContext): Service<typeof FindingsService> {
  return {
    async listFindings(call, request) {
      validate(ListFindingsRequestSchema, request);
      const violations = [
        ...timeViolations({ as_of: request.asOf }),
        ...(request.tag !== "" && request.repo === "" ? [{ field: "tag", description: "needs a repo" }] : []),
        ...(request.tag !== "" && request.digest !== "" ? [{ field: "digest", description: "excludes tag" }] : []),
      ];
      if (violations.length > 0) throw invalidArgument(...violations);
      const images = await imagesOf(call, request);
      // Before the findings: what is compared meanwhile is not known yet, and asked for the next time.
      const known = request.pageToken === "" ? await knownOf(call, images) : undefined;
      const { rows, nextPageToken } = await listFindings(call, pageTokenKey, request, images);
      const readers = await call.visible(Capability.CAP_ADVISORIES_LIST);
      const licences = new Map(
        (await call.tx.selectFrom("feeds").select(["name", "licence"]).execute()).map(({ name, licence }) => [
          name,
          licence,
        ]),
      );
      const findings = rows.map((row) => messageOf(row, licences, readers));
      if (known === undefined) return { findings, nextPageToken };
      const platforms = await platformsNamed(call, images.named ?? []);
      return { findings, nextPageToken, platforms, ...known };
    },
    async listFindingDays(call, request) {
      return { days: await listFindingDays(call, request) };
    },
    async listUnknownImages(call, request) {
      validate(ListUnknownImagesRequestSchema, request);
      const scope = scopeOf(request.uidp, await call.visible(...NEEDS));
      const within = request.repo === "" ? scope : ofRepo(scope, await visibleRepo(call, request.repo));
      const { rows, nextPageToken } = await listUnknownImages(call, pageTokenKey, request, within);
      return { unknownImages: rows.map(unknownImageMessage), nextPageToken };
    },
    async getCoverage(call, request) {
      validate(GetCoverageRequestSchema, request);
      const { repoUid: repo, digest } = request;
      await repos.get(call.tx, repo);
      await requireImage(call, repo, digest);
      const images = await knowledgeBehind(call.tx, { repo, digest });
      const spaces = images.flatMap(({ coverage }) => coverage.spaces);
      const uncompared: Uncompared[] = [];
      for (const image of images) uncompared.push(await uncomparedIn(call.tx, image.digest, image.sources));
      return coverageMessage(images, uncompared, await staleFeeds(call.tx, call.nowMs, { spaces }));
    },
  };
}

/** `named`: the image or index that the list is about, in each of the repos. */
interface ImagesOfList extends ListedImages {
  named?: ImageName[];
}

async function imagesOf(call: Call, request: ListFindingsRequest): Promise<ImagesOfList> {
  const scope = scopeOf(request.uidp, await call.visible(...NEEDS));
  if (request.repo === "") return request.digest === "" ? { scope } : await anywhere(call, scope, request.digest);
  const repo = await visibleRepo(call, request.repo);
  const within = ofRepo(scope, repo);
  const digest = request.tag === "" ? request.digest : await digestOfTag(call, repo, request);
  if (digest === "") return { scope: within };
  await requireImage(call, repo, digest);
  return { scope: within, only: await imagesNamed(call, repo, digest), named: [{ repo, digest }] };
}

/** The part of a scope that is the repo. */
function ofRepo(scope: Scope, repo: string): Scope {
  return { ...scope, roots: scope.roots.length === 0 ? [] : [repo] };
}

/** Throws NOT_FOUND unless the repo holds the manifest. */
async function requireImage({ tx }: Call, repo: string, digest: string): Promise<void> {
  const row = await tx
    .selectFrom("manifests")
    .select("digest")
    .where("repo", "=", repo)
    .where("digest", "=", digest)
    .executeTakeFirst();
  if (row === undefined) throw notFound("moorage.registry.v2.Image", digest);
}

/** Of the image or index in every repo of the scope that has it. Throws NOT_FOUND when none has. */
async function anywhere(call: Call, scope: Scope, digest: string): Promise<ListedImages & { named: ImageName[] }> {
  const repos = await reposWith(call.tx, scope, digest, MAX_REPOS + 1);
  if (repos.length === 0) throw notFound("moorage.registry.v2.Image", digest);
  if (repos.length > MAX_REPOS)
    throw invalidArgument({ field: "digest", description: `is in more than ${MAX_REPOS} repos: name one as repo` });
  const turn = createTurns();
  const only: ImageName[] = [];
  for (const repo of repos) {
    only.push(...(await imagesNamed(call, repo, digest)));
    await turn();
  }
  return { scope, only, named: repos.map((repo) => ({ repo, digest })) };
}

async function imagesNamed({ tx }: Call, repo: string, digest: string): Promise<ImageName[]> {
  const digests = [...new Set(await imagesBehind(tx, repo, digest))].sort();
  return digests.map((each) => ({ repo, digest: each }));
}

/** The platforms of the indexes that a list is about, sorted. */
async function platformsNamed({ tx }: Call, named: readonly ImageName[]): Promise<string[]> {
  const found = new Set<string>();
  for (const { repo, digest } of named.slice(0, MAX_NAMED)) {
    const manifest = await manifestOf(tx, { repo, digest });
    if (manifest === undefined || !isIndexType(manifest.mediaType)) continue;
    for (const { platform } of imagesIn(manifest.content)) if (platform !== "") found.add(platform);
  }
  return [...found].sort();
}

/** Of so many indexes the platforms are looked at: of one digest, they are the same in all repos. */
const MAX_NAMED = 1;

/**
 * What is known of the images that a list is about; what is the same in several repos once. Of a list about no image,
 * of how many images in its scope it is not, and whether there is no feed.
 */
async function knownOf({ tx, nowMs }: Call, { named, scope }: ImagesOfList) {
  if (named === undefined) {
    const state = (await isAnyFeed(tx)) ? KnowledgeState.UNSPECIFIED : KnowledgeState.NO_DATA;
    const { isAtLeast: atLeast, ...counts } = await unknownInScope(tx, scope);
    return {
      state,
      unknownSummary: { ...counts, atLeast },
      staleFeeds: (await staleFeeds(tx, nowMs, "all findings")).map(staleMessage),
    };
  }
  const found = new Map<string, PlatformKnowledge>();
  for (const image of named)
    for (const each of await knowledgeBehind(tx, image)) found.set(`${each.digest} ${each.reason}`, each);
  const images = [...found.values()];
  const spaces = new Set(images.flatMap(({ coverage }) => coverage.spaces));
  return {
    notCompared: images.reduce((sum, { coverage }) => sum + coverage.unreadable, 0),
    unknownImages: images.filter(({ state }) => state !== "READ").map(unknownMessage),
    state: KnowledgeState[leastKnown(images) ?? "UNSPECIFIED"],
    staleFeeds: (await staleFeeds(tx, nowMs, { spaces: [...spaces] })).map(staleMessage),
  };
}

/** The uid of the repo. Throws NOT_FOUND unless the caller may list what is in it. */
async function visibleRepo(call: Call, name: string): Promise<string> {
  const uid = await repoOfReport(call, { name, needs: NEEDS, field: "repo" });
  const row =
    uid === undefined
      ? undefined
      : await call.tx.selectFrom("repos").select("uid").where("uid", "=", uid).executeTakeFirst();
  if (row === undefined) throw notFound(RepoSchema.typeName, name);
  for (const capability of NEEDS) if (!(await call.may(capability, row.uid))) throw notFound(RepoSchema.typeName, name);
  return row.uid;
}

async function digestOfTag(call: Call, repo: string, { tag, asOf }: ListFindingsRequest): Promise<string> {
  const row =
    asOf === undefined
      ? await call.tx
          .selectFrom("tags")
          .select("digest")
          .where("parent", "=", repo)
          .where("name", "=", tag)
          .executeTakeFirst()
      : await call.tx
          .selectFrom("tag_history")
          .select("digest")
          .where("repo", "=", repo)
          .where("tag", "=", tag)
          .where("time", "<=", milliseconds(asOf))
          .orderBy("time", "desc")
          .limit(1)
          .executeTakeFirst();
  // A record without a digest says that the tag was deleted.
  if (row === undefined || row.digest === "") throw notFound(TagSchema.typeName, tag);
  return row.digest;
}

/** `readers`: the groups whose advisories the caller may read. */
function messageOf(
  { repo, digest, tags, platform, finding }: ListedFinding,
  licences: ReadonlyMap<string, string>,
  readers: readonly string[],
) {
  const { vulnerability, package: held, places, records, closedMs, statement, decision, claims, sources } = finding;
  return {
    vulnerability: vulnerability.id,
    aliases: vulnerability.aliases,
    repo,
    digest,
    tags: tags.names,
    tagsTotal: tags.total,
    platform,
    package: {
      purl: held.purl,
      name: held.name,
      version: held.version,
      sourceName: held.source_name,
      sourceVersion: held.source_version,
    },
    locations: places,
    severity: FindingSeverity[vulnerability.severity],
    ...(vulnerability.score !== undefined && { score: vulnerability.score }),
    kev: vulnerability.isExploited,
    ...(vulnerability.epss !== undefined && {
      epss: vulnerability.epss.epss,
      epssPercentile: vulnerability.epss.percentile,
    }),
    fixState: FixState[finding.state],
    fixVersions: finding.fixed,
    records: records.map((record) => ({
      feed: record.feed,
      id: record.id,
      licence: licences.get(record.feed) ?? "",
      fixVersions: record.fixed,
      lastAffectedVersions: record.lastAffected,
      openTime: timestamp(record.openedMs),
    })),
    state: closedMs === null ? FindingState.OPEN : FindingState.CLOSED,
    openTime: timestamp(finding.sinceMs),
    ...(closedMs !== null && { closeTime: timestamp(closedMs) }),
    closeReason: finding.closeReason,
    ...(statement !== undefined && {
      statement: {
        justification: statement.justification,
        impact: statement.impact,
        author: statement.author,
        time: timestamp(statement.timeMs),
        ...("feed" in statement
          ? { feed: statement.feed, document: statement.record }
          : { source: statement.source, document: statement.document }),
      },
    }),
    ...(decision !== undefined && {
      decision: decisionMessage(
        decision,
        readers.some((group) => isWithin(decision.advisory, group)),
      ),
    }),
    claims: claims.map(({ status, justification, impact, document, author, source, timeMs }) => {
      return { status, justification, impact, document, author, source, time: timestamp(timeMs) };
    }),
    sources,
    contradictions: finding.contradictions,
    remediations: (finding.remedies?.all ?? []).map((remedy) => ({ ...remedy, ...whoseOf(finding.remedies) })),
  };
}

/** Whose statement says what can be done. */
function whoseOf(remedies: ListedFinding["finding"]["remedies"]) {
  if (remedies === undefined) return {};
  const { statement } = remedies;
  return "feed" in statement
    ? { feed: statement.feed, document: statement.record }
    : { source: statement.source, document: statement.document };
}

/** Who may not read the advisory learns what it says of the finding, and which one it is. */
function decisionMessage(decision: AdvisoryDecision, mayRead: boolean) {
  const { advisory, advisoryId, type, justification = "", versions, notes, action, impact, timeMs } = decision;
  return {
    advisoryId,
    type,
    justification,
    versions,
    time: timestamp(timeMs),
    ...(mayRead && { advisory, note: notes ?? impact ?? action ?? "" }),
  };
}
