import { ChangeKind, DiffFormat, type DiffsService, GetDiffRequestSchema } from "@moorage/api/messages";
import { wrongPageToken } from "@moorage/kernel/aip/page-token";
import { timeViolations } from "@moorage/kernel/aip/times";
import { validate } from "@moorage/kernel/aip/validate";
import { pathOf } from "@moorage/kernel/core/image-path";
import type { Service, ServiceContext } from "@moorage/kernel/core/service";
import { invalidArgument } from "@moorage/kernel/errors";
import { milliseconds } from "@moorage/kernel/lib/timestamps";
import { repos } from "@moorage/registry/registry";
import { MAX_READ_BYTES, type Place } from "./images.ts";
import { markdownOf } from "./markdown.ts";
import { packageChanges } from "./packages.ts";
import { fingerprintOf, openDiffPage, sealDiffPage } from "./page.ts";
import { comparable, pairsOf, platformDiff, type PlatformDiffers } from "./platforms.ts";
import { parseReference } from "../images/references.ts";
import { lookUp, sideOf } from "./sides.ts";
import { ChangeBudget, textsOf, valueChanges } from "./values.ts";
import { staleMessage } from "../coverage/messages.ts";
import { staleFeeds } from "../coverage/stale-feeds.ts";
import { vulnerabilityChanges } from "./vulnerabilities.ts";

const DEFAULT_PAGE_SIZE = 200;
const MAX_PAGE_SIZE = 1_000;
/** The most differences of values and layers in one answer. */
const MAX_CHANGES = 2_000;

/** What differs between two images of a repo. */
export function diffsService({ pageTokenKey, readBlob }: ServiceContext): Service<typeof DiffsService> {
  return {
    async getDiff(call, request) {
      validate(GetDiffRequestSchema, request);
      const { repoUid: repo, pageSize } = request;
      const violations = [
        ...(pageSize < 0 ? [{ field: "page_size", description: "must not be negative" }] : []),
        ...timeViolations({ as_of: request.asOf }),
      ];
      if (violations.length > 0) throw invalidArgument(...violations);
      const references = {
        from: parseReference("from", request.from, call.nowMs),
        to: parseReference("to", request.to, call.nowMs),
      };
      await repos.get(call.tx, repo);
      const asOfMs = request.asOf === undefined ? undefined : milliseconds(request.asOf);
      const times = { from: asOfMs ?? references.from.timeMs, to: asOfMs ?? references.to.timeMs };
      const asked = JSON.stringify([repo, request.from, request.to, ...(asOfMs === undefined ? [] : [asOfMs])]);
      const page = openDiffPage(call, pageTokenKey, asked, request.pageToken);
      const place: Place = { call, readBlob, repo, budget: { bytes: MAX_READ_BYTES } };
      const from = await lookUp(place, "from", references.from, page?.from);
      const to = await lookUp(place, "to", references.to, page?.to);

      const changes = new ChangeBudget(MAX_CHANGES);
      const bothStored = from.manifest !== undefined && to.manifest !== undefined;
      const platforms: PlatformDiffers[] = [];
      const annotations = bothStored
        ? changes.take(valueChanges(textsOf(from.manifest?.annotations), textsOf(to.manifest?.annotations)))
        : [];
      // Of a manifest that is gone nothing is known; that the other side had been added would be wrong.
      const images = bothStored ? pairsOf(from.images, to.images) : [];
      for (const pair of images)
        platforms.push(await platformDiff(place, pair, { isIndex: from.isIndex || to.isIndex, changes }));
      const { pairs, complete } = comparable(platforms);
      const packages = await packageChanges(call, pairs);
      const vulnerabilities = await vulnerabilityChanges(place, images, platforms, times);
      const stale = await staleFeeds(call.tx, call.nowMs, vulnerabilities);
      const summary = {
        from: sideOf(from, times.from),
        to: sideOf(to, times.to),
        packagesComplete: complete && bothStored,
        addedPackages: count(packages, ChangeKind.ADDED),
        removedPackages: count(packages, ChangeKind.REMOVED),
        changedPackages: count(packages, ChangeKind.CHANGED),
        vulnerabilitiesComplete: vulnerabilities.complete && bothStored,
        addedVulnerabilities: count(vulnerabilities.changes, ChangeKind.ADDED),
        removedVulnerabilities: count(vulnerabilities.changes, ChangeKind.REMOVED),
        changedVulnerabilities: count(vulnerabilities.changes, ChangeKind.CHANGED),
        truncated: changes.truncated,
        staleFeeds: stale.map(staleMessage),
      };
      if (request.format === DiffFormat.MARKDOWN) {
        const shown = {
          ...summary,
          stale,
          platforms,
          annotations,
          packages: packages.slice(0, MAX_PAGE_SIZE),
          vulnerabilities: vulnerabilities.changes.slice(0, MAX_PAGE_SIZE),
        };
        return { ...summary, markdown: markdownOf(await pathOf(call.tx, repo), shown) };
      }
      const fingerprint = fingerprintOf(pairs, packages.length, vulnerabilities.changes);
      if (page !== undefined && page.fingerprint !== fingerprint)
        throw wrongPageToken(
          "is about packages or vulnerabilities that are known otherwise by now: begin with the first page",
        );
      const start = page?.offset ?? 0;
      const end = start + Math.min(pageSize || DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE);
      const next = { from: from.digest, to: to.digest, offset: end, fingerprint };
      return {
        ...summary,
        platforms,
        annotations,
        packages: packages.slice(start, end),
        vulnerabilities: vulnerabilities.changes.slice(start, end),
        nextPageToken:
          end < Math.max(packages.length, vulnerabilities.changes.length)
            ? sealDiffPage(call, pageTokenKey, asked, next)
            : "",
      };
    },
  };
}

const count = (changes: readonly { kind: ChangeKind }[], wanted: ChangeKind): number =>
  changes.filter(({ kind }) => kind === wanted).length;
