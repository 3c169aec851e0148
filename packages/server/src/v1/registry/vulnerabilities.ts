import { create, type MessageInitShape, toJsonString } from "@bufbuild/protobuf";
import {
  type GetRawVulnReportRequest,
  type RawVulnReportSchema,
  Vulnerabilities,
  type VulnReport,
  type VulnReportFilter,
  VulnReportFilterSchema,
  VulnReportListSchema,
  VulnReportSchema,
} from "@moorage/api/v1/registry";
import type { Call } from "@moorage/kernel/core/call";
import { invalidArgument } from "@moorage/kernel/errors";
import { milliseconds, timestamp, wholeMilliseconds } from "@moorage/kernel/lib/timestamps";
import { type ReportedImage, reportedImages, scannedContent, scannedReports } from "@moorage/security/security";
import type { Method } from "../../runtime/methods.ts";
import { reading, translated } from "../service.ts";
import { listed, orElsewhere } from "../v2.ts";
import { isAsked, isNamed, OWN_NAME, scannerOf } from "./scanners.ts";
import { countReports } from "./vuln-counts.ts";
import { ownReport, scannedReport } from "./vuln-reports.ts";

const DIGEST = /^sha256:[a-f0-9]{64}$|^sha512:[a-f0-9]{128}$/;
const TAG = /^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$/;

/**
 * moorage.registry.Vulnerabilities. The server is a scanner of its own, whose reports are the findings of the image;
 * beside them stand the reports of adapters. What the caller may not see is left out of every answer.
 */
export const vulnerabilities: [string, Method][] = translated(Vulnerabilities, [], {
  listVulnReports: reading(Vulnerabilities.method.listVulnReports, async (call, filter) => {
    requireForms(filter);
    const { repoId: repo, digest, tag } = filter;
    const images = eachOf(reportedImages(call, { repo, digest, tag }));
    return await listed(VulnReportListSchema, images, (image) =>
      orElsewhere(
        call,
        () => create(VulnReportFilterSchema, { ...filter, repoId: image.repo, digest: image.digest, tag: "" }),
        () => reportsOf(call, image, filter),
      ),
    );
  }),
  getRawVulnReport: reading(Vulnerabilities.method.getRawVulnReport, async (call, request) => {
    const { digest } = request;
    if (digest === "") throw invalidArgument({ field: "digest", description: "is required" });
    requireForms({ digest, tag: "" });
    for await (const images of reportedImages(call, { repo: "", digest, tag: "" }))
      for (const image of images) {
        const found = await rawReport(call, image, request);
        if (found !== undefined) return found;
      }
    return {};
  }),
  ...countReports,
});

async function* eachOf<T>(pages: AsyncIterable<readonly T[]>): AsyncGenerator<T, void, undefined> {
  for await (const page of pages) yield* page;
}

function requireForms({ digest, tag }: { digest: string; tag: string }): void {
  const violations = [
    ...(digest === "" || DIGEST.test(digest)
      ? []
      : [{ field: "digest", description: "must be a digest, as sha256:<64 hexadecimal digits>" }]),
    ...(tag === "" || TAG.test(tag) ? [] : [{ field: "tag", description: "must be a tag" }]),
  ];
  if (violations.length > 0) throw invalidArgument(...violations);
}

/** The reports about an image that the filter selects, our own one first. */
async function reportsOf(
  call: Call,
  image: ReportedImage,
  { scanner, createdSince }: VulnReportFilter,
): Promise<VulnReport[]> {
  const isSince = (createdMs: number): boolean =>
    createdSince === undefined || createdMs >= wholeMilliseconds(createdSince);
  const reports: VulnReport[] = [];
  const own = isNamed(scanner?.name ?? 0, { name: OWN_NAME }) ? await ownReport(call, image) : undefined;
  if (own !== undefined && isSince(own.createdMs) && isAsked(scanner, own.maker)) reports.push(own.message);
  for (const scanned of await scannedReports(call.tx, image.repo, image.digest)) {
    if (!isSince(scanned.createdMs) || !isAsked(scanner, scanned)) continue;
    reports.push(await scannedReport(call, scanned));
    call.requireCaller();
  }
  return reports;
}

/**
 * A report as a document: of our own that of v1 as JSON, of an adapter what it has sent. Of adapters the last report is
 * kept: as of a time before that there is none.
 */
async function rawReport(
  call: Call,
  image: ReportedImage,
  { scanner, createdAt }: GetRawVulnReportRequest,
): Promise<MessageInitShape<typeof RawVulnReportSchema> | undefined> {
  const atMs = createdAt === undefined ? undefined : milliseconds(createdAt);
  const own = isNamed(scanner, { name: OWN_NAME }) ? await ownReport(call, image, atMs) : undefined;
  if (own !== undefined)
    return {
      digest: image.digest,
      scanner: scannerOf(own.maker),
      createdAt: timestamp(own.createdMs),
      rawReport: toJsonString(VulnReportSchema, own.message),
      rawReportUrl: "",
    };
  const scanned = (await scannedReports(call.tx, image.repo, image.digest)).find(
    (each) => isNamed(scanner, each) && (atMs === undefined || each.createdMs <= atMs),
  );
  if (scanned === undefined) return undefined;
  return {
    digest: scanned.digest,
    scanner: scannerOf(scanned),
    createdAt: timestamp(scanned.createdMs),
    rawReport: Buffer.from(await scannedContent(call, scanned)).toString(),
    rawReportUrl: "",
  };
}
