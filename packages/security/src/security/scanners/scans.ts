import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import {
  FindingSeverity,
  ListScansRequestSchema,
  ScanImageRequestSchema,
  ScannerSchema,
  ScanSchema,
  ScansService,
  ScanType,
} from "@moorage/api/messages";
import { columnIsIfSet, listStored, storedListOf } from "@moorage/kernel/aip/list";
import { sortable } from "@moorage/kernel/aip/order";
import { DEFAULT_PAGE_SIZE } from "@moorage/kernel/aip/page-query";
import { openPageToken, PAGE_TOKEN_LIFETIME_MS, sealPageToken, wrongPageToken } from "@moorage/kernel/aip/page-token";
import { resource, storedGet } from "@moorage/kernel/aip/resource";
import { validate } from "@moorage/kernel/aip/validate";
import type { Call } from "@moorage/kernel/core/call";
import { isIndexType } from "@moorage/kernel/core/media-types";
import type { Service, ServiceContext } from "@moorage/kernel/core/service";
import { layoutOf } from "@moorage/kernel/core/stored-answer";
import { failedPrecondition, invalidArgument, notFound } from "@moorage/kernel/errors";
import { timestamp } from "@moorage/kernel/lib/timestamps";
import { repos } from "@moorage/registry/registry";
import type { Database, Row } from "@moorage/kernel/store";
import { imagesBehind } from "../images/images.ts";
import { weighBytes } from "../images/weights.ts";
import { MAX_REPORT_BYTES } from "./adapter.ts";
import { reportFor, SCAN_TYPES } from "./mime-types.ts";
import { readReport } from "./report.ts";
import { manifestsOf, requestScan, scannersFor, type UsableScanner } from "./request.ts";

const LAYOUT = layoutOf(ScanSchema);
const scans = resource({ message: ScanSchema, table: "scans", toMessage: LAYOUT.ofRow, toRow: () => ({}) });
const getScan = storedGet("scans", LAYOUT);
const LIST = storedListOf(
  {
    method: ScansService.method.listScans,
    table: "scans",
    defaultOrder: "requestTime desc",
    orderBy: sortable("request_time", "report_time", "digest", "state", "uid"),
  },
  LAYOUT,
);
const MAX_IMAGES = 200;
const MAX_PAGE_SIZE = 200;
const expand = promisify(gunzip);

/** What scanners report of images: docs/vulnerabilities.md. */
export function scansService({ pageTokenKey }: ServiceContext): Service<typeof ScansService> {
  return {
    getScan: (call, { uid }) => getScan(call.tx, uid),
    listScans(call, request) {
      validate(ListScansRequestSchema, request);
      return listStored(call, pageTokenKey, LIST, request, {
        filters: ({ digest, scanner, type, state }) => [
          ...columnIsIfSet("digest", digest),
          ...columnIsIfSet("scanner", scanner),
          ...columnIsIfSet("type", type),
          ...columnIsIfSet("state", state),
        ],
      });
    },
    async scanImage(call, request) {
      validate(ScanImageRequestSchema, request);
      const { repoUid: repo, digest } = request;
      await repos.get(call.tx, repo);
      const images = await imagesOf(call.tx, repo, digest);
      const types = SCAN_TYPES.filter((type) => request.type === ScanType.UNSPECIFIED || request.type === type);
      const wished = (await usable(call.tx, repo, request.scanner)).flatMap((scanner) =>
        types.flatMap((type) =>
          images
            .filter(({ media_type: media }) => reportFor(scanner.adapter, type, media) !== undefined)
            .map((image) => ({ repo, digest: image.digest, type, scanner })),
        ),
      );
      if (wished.length === 0)
        throw failedPrecondition({
          type: "NO_SCANNER",
          subject: digest,
          description: "no scanner of the repo's group, or of one above, takes the image",
        });
      const rows: Row<"scans">[] = [];
      for (const wish of wished) rows.push(await requestScan(call, wish));
      return { scans: rows.map(scans.toMessage) };
    },
    async getScanReport(call, { uid }) {
      const row = await scans.get(call.tx, uid);
      const content = await reportOf(call, row);
      const { report_mime_type: mimeType, scanner, report_time: time } = row;
      return { content, mimeType, scanner, ...(time !== null && { reportTime: timestamp(time) }) };
    },
    async listScanVulnerabilities(call, { uid, minSeverity, pageSize, pageToken }) {
      if (pageSize < 0) throw invalidArgument({ field: "page_size", description: "must not be negative" });
      const row = await scans.get(call.tx, uid);
      if (row.type === ScanType.SBOM)
        throw failedPrecondition({
          type: "NO_VULNERABILITIES",
          subject: uid,
          description: "the scan is for a bill of materials",
        });
      const content = await reportOf(call, row);
      const filter = `${uid} ${row.report_time} ${minSeverity}`;
      const from = pageToken === "" ? 0 : positionIn(call, pageTokenKey, pageToken, filter);
      const all = readReport(content).vulnerabilities.filter(({ severity }) => isAtLeast(severity, minSeverity));
      const to = from + Math.min(pageSize || DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE);
      const token = { list: TOKENS, request: filter, issuedMs: call.nowMs, position: [to] };
      return {
        vulnerabilities: all.slice(from, to),
        nextPageToken: to < all.length ? sealPageToken(pageTokenKey, token) : "",
        totalCount: all.length,
      };
    },
  };
}

const TOKENS = ScansService.method.listScanVulnerabilities.input.typeName;

/** Where the page begins. A token that has expired restarts the list, and so does one of an earlier report. */
function positionIn(call: Call, key: Uint8Array, text: string, filter: string): number {
  const { list, request, position, issuedMs } = openPageToken(key, text);
  if (list !== TOKENS) throw wrongPageToken("is not a token of this list");
  if (call.nowMs - issuedMs > PAGE_TOKEN_LIFETIME_MS) return 0;
  const [uid, time, severity] = filter.split(" ");
  const [ownUid, ownTime, ownSeverity] = request.split(" ");
  if (uid !== ownUid || severity !== ownSeverity) throw wrongPageToken("was given for another request");
  return time === ownTime ? Number(position[0]) : 0;
}

function isAtLeast(severity: FindingSeverity, min: FindingSeverity): boolean {
  return min === FindingSeverity.UNSPECIFIED || severity >= min;
}

/**
 * The last report of a scan, as the adapter sent it. Throws FAILED_PRECONDITION when there is none. Checks no rights:
 * the caller of this function does.
 */
export async function reportOf(
  call: Pick<Call, "tx" | "weigh">,
  { uid, reason }: Pick<Row<"scans">, "uid" | "reason">,
): Promise<Uint8Array> {
  const row = await call.tx.selectFrom("scan_reports").select("content").where("scan", "=", uid).executeTakeFirst();
  if (row === undefined)
    throw failedPrecondition({
      type: "NO_REPORT",
      subject: uid,
      description: reason === "" ? "the image is not scanned yet" : `there is no report: ${reason}`,
    });
  const content = await expand(row.content, { maxOutputLength: MAX_REPORT_BYTES });
  weighBytes(call, content.length);
  return content;
}

async function imagesOf(tx: Database, repo: string, digest: string) {
  const [image] = await manifestsOf(tx, repo, [digest]);
  if (image === undefined) throw notFound("moorage.registry.v2.Image", digest);
  if (!isIndexType(image.media_type)) return [image];
  const digests = await imagesBehind(tx, repo, digest);
  if (digests.length > MAX_IMAGES)
    throw invalidArgument({ field: "digest", description: `names more than ${MAX_IMAGES} images` });
  return await manifestsOf(tx, repo, digests);
}

/** The scanners that are asked: the one with the uid, or all that are not disabled. */
async function usable(tx: Database, repo: string, uid: string): Promise<UsableScanner[]> {
  const known = await scannersFor(tx, repo);
  if (uid === "") return known.filter(({ disabled }) => disabled === 0);
  const found = known.find((each) => each.uid === uid);
  if (found === undefined) throw notFound(ScannerSchema.typeName, uid);
  if (found.disabled === 0) return [found];
  throw failedPrecondition({ type: "SCANNER_DISABLED", subject: uid, description: "the scanner is disabled" });
}
