import {
  DownloadsService,
  type Ecosystem,
  type DownloadsSchema,
  type ListDownloadsRequest,
  ListDownloadsRequestSchema,
} from "@moorage/api/messages";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { neededFor, rejectUnlistable } from "@moorage/kernel/aip/access";
import { coverageMessage } from "@moorage/kernel/aip/coverage-message";
import { openPosition, pagedBy, sealPosition } from "@moorage/kernel/aip/positions";
import { scopeOf } from "@moorage/kernel/aip/scope";
import { violationsOf } from "@moorage/kernel/aip/validate";
import type { Service, ServiceContext } from "@moorage/kernel/core/service";
import { invalidArgument } from "@moorage/kernel/errors";
import { dayOf, dayText } from "@moorage/kernel/lib/days";
import { timestamp } from "@moorage/kernel/lib/timestamps";
import { isWithin } from "@moorage/kernel/lib/uid";
import { coverageOfDownloads } from "./commands.ts";
import { type DownloadRow, downloadRows, existingOf, uncountedOf } from "./rows.ts";

const NEEDS = neededFor(DownloadsService.method.listDownloads);
const DEFAULT_SIZE = 100;
const MAX_SIZE = 1_000;
const DEFAULT_DAYS = 30;
const MAX_DAYS = 366;

/** How often libraries are downloaded. */
export function downloadsService({ pageTokenKey }: ServiceContext): Service<typeof DownloadsService> {
  return {
    async listDownloads(call, request) {
      requireValid(request);
      const { artifactId: artifact, uidp } = request;
      const paged = pagedBy(ListDownloadsRequestSchema, request, "uidp, filters or days");
      const { roots: visible } = scopeOf(uidp, await call.visible(...NEEDS));
      const isSeen = (uid: string): boolean => visible.some((root) => isWithin(uid, root));
      if (artifact !== "" && !isSeen(artifact)) await rejectUnlistable(call, NEEDS, artifact);
      const roots = artifact === "" ? visible : isSeen(artifact) ? [artifact] : [];
      const named = request.uids.length === 0 ? undefined : [...new Set(request.uids)];
      const existing = await existingOf(call.tx, artifact, (named ?? []).filter(isSeen));
      const uids = named?.filter((uid) => existing.has(uid));
      // The coverage first: what it says then holds of the rows, too.
      const coverage = await coverageOfDownloads.read(call.tx);
      const fromDay = dayOf(call.nowMs) - (request.days || DEFAULT_DAYS) + 1;
      const after = openPosition(call, pageTokenKey, paged, request.pageToken)?.[0];
      const size = Math.min(request.pageSize || DEFAULT_SIZE, MAX_SIZE);
      const asked = { roots, artifact, uids, fromDay };
      const found = await downloadRows(call.tx, asked, String(after ?? ""), size + 1);
      const page = found.slice(0, size);
      const last = found.length > size ? page.at(-1) : undefined;
      return {
        downloads: page.map(messageOf),
        nextPageToken: last === undefined ? "" : sealPosition(call, pageTokenKey, paged, [last.item]),
        coverage: coverageMessage(coverage),
        startDay: dayText(fromDay),
        leftOutUids: (named ?? []).filter((uid) => !existing.has(uid)),
        uncountedUids: await uncountedOf(call.tx, artifact, uids ?? []),
      };
    },
  };
}

function requireValid(request: ListDownloadsRequest): void {
  const { uidp, pageSize, days } = request;
  const violations = [
    ...violationsOf(ListDownloadsRequestSchema, request),
    ...(uidp !== undefined && (uidp.ancestorsOf !== "" || uidp.childrenOf !== "" || uidp.inRoot || uidp.ids.length > 0)
      ? [{ field: "uidp", description: "only descendants_of is taken here" }]
      : []),
    ...(pageSize < 0 ? [{ field: "page_size", description: "must not be negative" }] : []),
    ...(days < 0 || days > MAX_DAYS ? [{ field: "days", description: `must be from 1 to ${MAX_DAYS}` }] : []),
  ];
  if (violations.length > 0) throw invalidArgument(...violations);
}

function messageOf(row: DownloadRow): MessageInitShape<typeof DownloadsSchema> {
  const { item, artifact, name, version, ecosystem, count, time } = row;
  return {
    uid: item,
    artifactId: artifact,
    name,
    version,
    ecosystem: ecosystem as Ecosystem,
    count: BigInt(count),
    lastTime: timestamp(Number(time)),
  };
}
