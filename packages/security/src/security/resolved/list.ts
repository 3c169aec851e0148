import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  Capability,
  CapabilitySchema,
  type ListResolvedVulnsReportsRequest,
  ListResolvedVulnsReportsRequestSchema,
  type ListResolvedVulnsReportsResponseSchema,
  RepoSchema,
  SecurityAdvisoryService,
  type StaleFeedSchema,
} from "@moorage/api/messages";
import { listFound, listOf } from "@moorage/kernel/aip/list";
import type { FoundPage, PageQuery } from "@moorage/kernel/aip/page-query";
import { type Scope, within } from "@moorage/kernel/aip/scope";
import { timeViolations } from "@moorage/kernel/aip/times";
import { validate } from "@moorage/kernel/aip/validate";
import type { Call } from "@moorage/kernel/core/call";
import { type FieldViolation, invalidArgument, notFound, permissionDenied } from "@moorage/kernel/errors";
import { isoTime, milliseconds, timestamp, wholeMilliseconds } from "@moorage/kernel/lib/timestamps";
import { createTurns } from "@moorage/kernel/lib/turns";
import { repoOfReport } from "@moorage/registry/registry";
import { sql, type SqlBool } from "kysely";
import { staleMessage } from "../coverage/messages.ts";
import { type StaleFeed, staleAt, staleFeeds } from "../coverage/stale-feeds.ts";
import { stateOfImages } from "../coverage/index-knowledge.ts";
import { type ImageName, nameOf } from "../images/images.ts";
import { resolvedByDay, type ResolvedDay, type TaggedImages } from "./by-day.ts";
import { DAY_MS, type Days, dayOf } from "./days.ts";
import { describeResolved } from "./describe.ts";

const LIST = listOf({
  method: SecurityAdvisoryService.method.listResolvedVulnsReports,
  table: "advisories",
  defaultOrder: "date",
  orderBy: { date: "uid" },
});

const NEEDED = [Capability.CAP_TAG_LIST, Capability.CAP_VULN_REPORT_LIST];
const DEFAULT_TAG = "latest";
const TAG = /^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$/;
const DEFAULT_DAYS = 30;
const MAX_DAYS = 366;
const MAX_TAGS = 100;

type Request = ListResolvedVulnsReportsRequest;
/** `uid`: the day, as text that sorts as days do. */
type DayRow = ResolvedDay & { uid: string };

/** A page of reports, one for each day. */
export async function listResolved(
  call: Call,
  key: Uint8Array,
  request: Request,
): Promise<MessageInitShape<typeof ListResolvedVulnsReportsResponseSchema>> {
  validate(ListResolvedVulnsReportsRequestSchema, request);
  // That of the page token, if there is one.
  let inForce: Request = request;
  const page = await listFound(
    call,
    key,
    LIST,
    request,
    {
      scope(scope, used) {
        inForce = used;
        return scope;
      },
    },
    async (query): Promise<FoundPage<DayRow>> => {
      const days = checkedDays(call, inForce);
      const images = await imagesOf(call, inForce, query.scope);
      const found = await resolvedByDay(call, images, days);
      return pageOf(
        found.map((day) => ({ ...day, uid: isoTime(day.dayMs) })),
        query,
      );
    },
    ({ uid }: DayRow) => uid,
  );
  const described = await describeResolved(
    call,
    page.rows.map(({ resolved }) => resolved),
  );
  const stateOf = statesOfDays(call);
  const states: DayState[] = [];
  for (const { dayMs, images } of page.rows) states.push(await stateOf(images, Math.min(dayMs + DAY_MS, call.nowMs)));
  return {
    ...page,
    resolvedVulnsReports: page.rows.map(({ dayMs }, at) => ({
      ...states[at],
      date: timestamp(dayMs),
      resolvedVulns: (described[at] ?? []).map(({ id, aliases, severities }) => ({
        id,
        aliases,
        cvssSeverities: severities,
      })),
    })),
  };
}

const STATES = ["NOT_READ", "NO_DATA", "READ"];

interface DayState {
  state: string;
  stateReason: string;
  staleFeeds: MessageInitShape<typeof StaleFeedSchema>[];
}

/** What is known now of the images of a day that ends then, the least of them. Each image is judged once. */
function statesOfDays(call: Call) {
  const known = new Map<string, { state: string; reason: string; stale: StaleFeed[] }>();
  const turn = createTurns();
  const judged = async (image: ImageName): Promise<{ state: string; reason: string; stale: StaleFeed[] }> => {
    const { spaces, ...rest } = await stateOfImages(call.tx, image);
    return { ...rest, stale: await staleFeeds(call.tx, call.nowMs, { spaces }) };
  };
  return async (images: readonly ImageName[], endMs: number): Promise<DayState> => {
    const all: { state: string; reason: string; stale: StaleFeed[] }[] = [];
    for (const image of images) {
      const one = known.get(nameOf(image)) ?? (await judged(image));
      known.set(nameOf(image), one);
      all.push(one);
      await turn();
      call.requireCaller();
    }
    const stale = new Map(all.flatMap((one) => one.stale).map((each) => [each.feed, each]));
    const reasons = new Set(all.map(({ reason }) => reason).filter((reason) => reason !== ""));
    return {
      state: STATES.find((state) => all.some((one) => one.state === state)) ?? "",
      stateReason: [...reasons].slice(0, MAX_REASONS).join("; "),
      staleFeeds: staleAt([...stale.values()], endMs).map(staleMessage),
    };
  };
}

const MAX_REASONS = 10;

function pageOf(days: DayRow[], { orders, after, offset, limit }: PageQuery): FoundPage<DayRow> {
  const isDescending = orders[0]?.descending === true;
  const sorted = isDescending ? days.toReversed() : days;
  const [edge] = after ?? [];
  const left = sorted.filter(({ uid }) => edge === undefined || (isDescending ? uid < edge : uid > edge));
  return { rows: left.slice(offset, offset + limit), total: days.length };
}

/** Throws INVALID_ARGUMENT with all that is wrong with the images and the times. */
function checkedDays({ nowMs }: Call, { imageRefs, startTime, endTime }: Request): Days {
  const violations: FieldViolation[] = timeViolations({ start_time: startTime, end_time: endTime });
  const tags = imageRefs.reduce((sum, each) => sum + Math.max(1, each.tags.length), 0);
  if (tags === 0) violations.push({ field: "image_refs", description: "must name an image" });
  if (tags > MAX_TAGS) violations.push({ field: "image_refs", description: `must name at most ${MAX_TAGS} tags` });
  for (const [at, each] of imageRefs.entries()) {
    if (each.repo === "") violations.push({ field: `image_refs[${at}].repo`, description: "is required" });
    for (const [n, tag] of each.tags.entries())
      if (!TAG.test(tag)) violations.push({ field: `image_refs[${at}].tags[${n}]`, description: "must be a tag" });
  }
  const lastMs = dayOf(endTime === undefined ? nowMs : wholeMilliseconds(endTime));
  const firstMs = startTime === undefined ? lastMs - (DEFAULT_DAYS - 1) * DAY_MS : dayOf(wholeMilliseconds(startTime));
  if (startTime !== undefined && endTime !== undefined && milliseconds(endTime) < milliseconds(startTime))
    violations.push({ field: "end_time", description: "must not be before the first day" });
  else if (lastMs - firstMs >= MAX_DAYS * DAY_MS)
    violations.push({ field: "start_time", description: `must be at most ${MAX_DAYS} days before the last` });
  if (violations.length > 0) throw invalidArgument(...violations);
  return { firstMs, lastMs };
}

/** The images in the scope. Throws NOT_FOUND for a repo that the caller may not see, and PERMISSION_DENIED. */
async function imagesOf(call: Call, { imageRefs }: Request, { roots, conditions }: Scope): Promise<TaggedImages[]> {
  const tags = new Map<string, string[]>();
  for (const [at, each] of imageRefs.entries()) {
    const repo = await visibleRepo(call, each.repo, `image_refs[${at}].repo`);
    tags.set(repo, [...(tags.get(repo) ?? []), ...(each.tags.length === 0 ? [DEFAULT_TAG] : each.tags)]);
  }
  const inScope = await call.tx
    .selectFrom("repos as t")
    .select("t.uid")
    .where("t.uid", "in", [...tags.keys()])
    .where(sql<SqlBool>`${sql.join([within(roots), ...conditions], sql` and `)}`)
    .execute();
  return inScope.map(({ uid }) => ({ repo: uid, tags: [...new Set(tags.get(uid))] }));
}

async function visibleRepo(call: Call, name: string, field: string): Promise<string> {
  const uid = await repoOfReport(call, { name, needs: [Capability.CAP_REPO_LIST], field });
  const row =
    uid === undefined
      ? undefined
      : await call.tx.selectFrom("repos").select("uid").where("uid", "=", uid).executeTakeFirst();
  if (row === undefined || !(await call.may(Capability.CAP_REPO_LIST, row.uid)))
    throw notFound(RepoSchema.typeName, name);
  const missing: string[] = [];
  for (const need of NEEDED)
    if (!(await call.may(need, row.uid))) missing.push(CapabilitySchema.value[need]?.name ?? "");
  if (missing.length === 0) return row.uid;
  throw permissionDenied(`the caller lacks ${missing.join(", ")}`, { missing: missing.join(",") });
}
