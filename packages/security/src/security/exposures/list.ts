import { create } from "@bufbuild/protobuf";
import {
  type ListExposuresRequest,
  ListExposuresRequestSchema,
  ListFindingsRequestSchema,
} from "@moorage/api/messages";
import { DEFAULT_PAGE_SIZE } from "@moorage/kernel/aip/page-query";
import { openPosition, pagedBy, sealPosition } from "@moorage/kernel/aip/positions";
import type { Scope } from "@moorage/kernel/aip/scope";
import type { Call } from "@moorage/kernel/core/call";
import { milliseconds } from "@moorage/kernel/lib/timestamps";
import { createTurns } from "@moorage/kernel/lib/turns";
import { type Puller, pullersOf } from "@moorage/registry/registry";
import { matches } from "../findings/filters.ts";
import { findingsOfImage, type ImageFinding } from "../findings/read.ts";
import type { KnownVulnerabilities } from "../findings/vulnerabilities.ts";
import type { ImageName } from "../images/images.ts";
import { imagesWith } from "../images/walk.ts";
import { weighFindings } from "../images/weights.ts";
import { wantedPackages } from "../packages/candidates.ts";

/** Who pulled an image that has an open finding. */
export interface ListedExposure extends ImageName {
  finding: ImageFinding;
  puller: Puller;
}

const MAX_PAGE_SIZE = 200;
// A page ends after so many images were read, however few were pulled.
const MAX_READ = 200;
/** Of so many identities that pulled one image a row is made; further ones are left out. */
const MAX_PULLERS = 1_000;

/** A page of exposures, by digests, repos and identities. It may be short, or empty, although more follow. */
export async function listExposures(
  call: Call,
  key: Uint8Array,
  request: ListExposuresRequest,
  scope: Scope,
): Promise<{ rows: ListedExposure[]; nextPageToken: string }> {
  const { tx } = call;
  const size = Math.min(request.pageSize || DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE);
  const paged = pagedBy(ListExposuresRequestSchema, request, "filter");
  const [repo = "", digest = "", identity = ""] = (openPosition(call, key, paged, request.pageToken) ?? []).map(String);
  const asked = create(ListFindingsRequestSchema, { vulnerabilities: [request.vulnerability] });
  const packages = (await wantedPackages(tx, asked)) ?? [];
  const sinceMs = request.since === undefined ? 0 : milliseconds(request.since);
  const known: KnownVulnerabilities = new Map();
  const rows: ListedExposure[] = [];
  const turn = createTurns();
  const page = (at: ImageName, after: string) => ({
    rows,
    nextPageToken: sealPosition(call, key, paged, [at.repo, at.digest, after]),
  });
  let read = 0;
  for await (const { images } of imagesWith(tx, packages, scope, { repo, digest })) {
    call.requireCaller();
    for (const image of images) {
      if (read >= MAX_READ) return page(image, "");
      read += 1;
      const isBegun = image.repo === repo && image.digest === digest;
      const ofImage = { ...image, state: "open", packages } as const;
      const sources = await weighFindings(call, ofImage);
      const finding = (await findingsOfImage(tx, { ...ofImage, sources }, known, call))?.find((each) =>
        matches(each, asked),
      );
      await turn();
      if (finding === undefined) continue;
      for (const puller of await pullersOf(tx, image, Math.max(sinceMs, finding.sinceMs), MAX_PULLERS)) {
        if (isBegun && puller.identity < identity) continue;
        if (rows.length === size) return page(image, puller.identity);
        rows.push({ ...image, finding, puller });
      }
    }
  }
  return { rows, nextPageToken: "" };
}
