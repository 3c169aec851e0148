import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type ListPullsRequest,
  ListPullsRequestSchema,
  type PullCountSchema,
  PullGrouping,
  PullsService,
  UsageFormat,
} from "@moorage/api/messages";
import { sql } from "kysely";
import { neededFor, rejectUnlistable } from "@moorage/kernel/aip/access";
import { coverageMessage } from "@moorage/kernel/aip/coverage-message";
import { openPosition, pagedBy, sealPosition } from "@moorage/kernel/aip/positions";
import { scopeOf, within } from "@moorage/kernel/aip/scope";
import { timeViolations } from "@moorage/kernel/aip/times";
import { violationsOf } from "@moorage/kernel/aip/validate";
import type { Call } from "@moorage/kernel/core/call";
import type { Service, ServiceContext } from "@moorage/kernel/core/service";
import { invalidArgument } from "@moorage/kernel/errors";
import { isoTime, milliseconds, timestamp } from "@moorage/kernel/lib/timestamps";
import { isWithin } from "@moorage/kernel/lib/uid";
import { imagePaths } from "../image-paths.ts";
import { pullCoverage } from "./coverage.ts";
import { csvOf } from "./csv.ts";
import { dayOf, dayText } from "@moorage/kernel/lib/days";
import { columnsOf, countRows, positionOf, type PullCondition, type PullSum, sumsOf } from "./sums.ts";
import { requireEventsOf } from "./require-events.ts";

const NEEDS = neededFor(PullsService.method.listPulls);
const DEFAULT_SIZE = 100;
const MAX_SIZE = 1_000;
/** The most rows that one answer sums up. */
const MAX_ROWS = 1_000_000;
const HEADER = ["day", "repo_uid", "image", "tag", "digest", "identity", "count", "bytes", "first_time", "last_time"];

type PullCount = MessageInitShape<typeof PullCountSchema>;

/** How often images are pulled. */
export function pullsService({ pageTokenKey }: ServiceContext): Service<typeof PullsService> {
  return {
    async listPulls(call, request) {
      requireValid(request);
      const paged = pagedBy(ListPullsRequestSchema, request, "uidp, filters or grouping");
      const columns = columnsOf(request.groupBy);
      const { conditions, leftOutRepoUids } = await conditionsOf(call, request);
      const coverage = coverageMessage(await pullCoverage(call.tx));
      const after = openPosition(call, pageTokenKey, paged, request.pageToken);
      const rows = await countRows(call.tx, conditions, MAX_ROWS + 1);
      if (rows > MAX_ROWS)
        throw invalidArgument({ field: "start_time", description: `more than ${MAX_ROWS} sums a day: ask for less` });
      call.weigh(rows);
      const size = Math.min(request.pageSize || DEFAULT_SIZE, MAX_SIZE);
      const position = after?.map((each) => (typeof each === "number" ? each : String(each)));
      const found = await sumsOf(call.tx, columns, conditions, position, size + 1);
      const page = found.slice(0, size);
      const names = await imagePaths(call.tx).ofUids(page.flatMap(({ repo }) => repo ?? []));
      const pulls = page.map((sum) => messageOf(sum, names));
      const last = found.length > size ? page.at(-1) : undefined;
      const nextPageToken =
        last === undefined ? "" : sealPosition(call, pageTokenKey, paged, positionOf(columns, last));
      if (request.format === UsageFormat.CSV)
        return {
          csv: csvOf(
            HEADER,
            page.map((sum) => cellsOf(sum, names)),
          ),
          nextPageToken,
          coverage,
          leftOutRepoUids,
        };
      return { pulls, nextPageToken, coverage, leftOutRepoUids };
    },
  };
}

function requireValid(request: ListPullsRequest): void {
  const { uidp, startTime, endTime, pageSize, groupBy } = request;
  const violations = [
    ...violationsOf(ListPullsRequestSchema, request),
    ...timeViolations({ startTime, endTime }),
    ...(uidp !== undefined && (uidp.ancestorsOf !== "" || uidp.childrenOf !== "" || uidp.inRoot || uidp.ids.length > 0)
      ? [{ field: "uidp", description: "only descendants_of is taken here" }]
      : []),
    ...(pageSize < 0 ? [{ field: "page_size", description: "must not be negative" }] : []),
    ...(groupBy.includes(PullGrouping.UNSPECIFIED)
      ? [{ field: "group_by", description: "must name by what pulls are summed up" }]
      : []),
  ];
  if (violations.length > 0) throw invalidArgument(...violations);
}

async function conditionsOf(
  call: Call,
  request: ListPullsRequest,
): Promise<{ conditions: PullCondition[]; leftOutRepoUids: string[] }> {
  const { uidp, repoUid, repoUids, tag, digest, identity, startTime, endTime, groupBy } = request;
  const { roots } = scopeOf(uidp, await call.visible(...NEEDS));
  const named = repoUid === "" ? roots : roots.some((root) => isWithin(repoUid, root)) ? [repoUid] : [];
  const isSeen = (repo: string): boolean => named.some((root) => isWithin(repo, root));
  if (named.length === 0 && repoUid !== "") await rejectUnlistable(call, NEEDS, repoUid);
  if (identity !== "" || groupBy.includes(PullGrouping.IDENTITY))
    await requireEventsOf(call, repoUids.length === 0 ? named : repoUids.filter(isSeen));
  const conditions = [
    within(repoUids.length === 0 ? named : repoUids.filter(isSeen), sql`t.repo`),
    ...(tag === "" ? [] : [sql`t.tag = ${tag}`]),
    ...(digest === "" ? [] : [sql`t.digest = ${digest}`]),
    ...(identity === "" ? [] : [sql`t.identity = ${identity}`]),
    ...(startTime === undefined ? [] : [sql`t.day >= ${dayOf(milliseconds(startTime))}`]),
    ...(endTime === undefined ? [] : [sql`t.day <= ${dayOf(milliseconds(endTime))}`]),
  ];
  return { conditions, leftOutRepoUids: repoUids.filter((repo) => !isSeen(repo)) };
}

function messageOf(sum: PullSum, names: ReadonlyMap<string, string>): PullCount {
  const { day, repo = "", tag = "", digest = "", identity = "" } = sum;
  return {
    day: day === undefined ? "" : dayText(Number(day)),
    repoUid: repo,
    name: names.get(repo) ?? "",
    tag,
    digest,
    identity,
    count: BigInt(sum.count),
    bytes: BigInt(sum.bytes),
    firstTime: timestamp(Number(sum.first_time)),
    lastTime: timestamp(Number(sum.last_time)),
  };
}

function cellsOf(sum: PullSum, names: ReadonlyMap<string, string>): (string | number)[] {
  const { day, repo = "", tag = "", digest = "", identity = "" } = sum;
  return [
    day === undefined ? "" : dayText(Number(day)),
    repo,
    names.get(repo) ?? "",
    tag,
    digest,
    identity,
    Number(sum.count),
    Number(sum.bytes),
    isoTime(Number(sum.first_time)),
    isoTime(Number(sum.last_time)),
  ];
}
