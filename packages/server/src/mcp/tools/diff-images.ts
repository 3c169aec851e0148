import { ChangeKind, type Diff, DiffsService } from "@moorage/api/messages";
import { z } from "zod";
import { invalidArgument } from "@moorage/kernel/errors";
import { findRepo } from "../find-resources.ts";
import { type ImageName, parseImageName } from "../image-names.ts";
import { linesOf, NEXT_PAGE_TOKEN, PAGE_SIZE, PAGE_TOKEN } from "../shared-schemas.ts";
import { STALE_FEEDS, staleLines, staleOf } from "../stale-feeds.ts";
import { defineTool } from "../tool.ts";
import { SEVERITIES, severityName } from "./image-findings.ts";

const CHANGE = z.enum(["added", "removed", "changed"]);
const VALUES = z
  .array(
    z.object({
      platform: z.string(),
      name: z.string(),
      from: z.string().optional(),
      to: z.string().optional(),
    }),
  )
  .describe("Entries of the configuration and labels that differ.");

export const diffImages = defineTool({
  name: "diff_images",
  description:
    "Compares two images of a repo, or one tag at two times: packages, vulnerabilities, configuration and size. Both are named as acme/app:1.2, acme/app@sha256:… or acme/app:1.2@2026-01-31; of the second the path may be left out.",
  methods: [DiffsService.method.getDiff],
  input: z.object({
    from: z.string().min(3).max(1024).describe("The image that is compared, as acme/app:1.2@2026-01-31."),
    to: z.string().min(1).max(1024).describe("The image that it is compared with, as acme/app:1.3, or only 1.3."),
    page_size: PAGE_SIZE,
    page_token: PAGE_TOKEN,
  }),
  output: z.object({
    from: z.object({ image: z.string(), digest: z.string(), size_bytes: z.number() }),
    to: z.object({ image: z.string(), digest: z.string(), size_bytes: z.number() }),
    packages: z.array(
      z.object({
        change: CHANGE,
        name: z.string(),
        purl: z.string(),
        from_versions: z.array(z.string()),
        to_versions: z.array(z.string()),
      }),
    ),
    packages_complete: z.boolean().describe("Whether the packages of all platforms are known."),
    vulnerabilities: z.array(
      z.object({ change: CHANGE, vulnerability: z.string(), severity: z.enum(SEVERITIES), package: z.string() }),
    ),
    vulnerabilities_complete: z.boolean().describe("Whether the vulnerabilities of all platforms are known."),
    unknown: z
      .array(
        z.object({
          side: z.enum(["from", "to"]),
          platform: z.string(),
          packages: z.string(),
          vulnerabilities: z.string(),
        }),
      )
      .describe("Images whose packages or vulnerabilities are not known, with why: they are not compared."),
    stale_feeds: STALE_FEEDS,
    config: VALUES,
    next_page_token: NEXT_PAGE_TOKEN,
  }),
  async run({ call, registryHost }, { from, to, page_size: pageSize, page_token: pageToken }) {
    const first = parseImageName("from", from, registryHost);
    const second = parseImageName("to", isReference(to) ? `${first.path}${markOf(to)}${to}` : to, registryHost);
    if (second.path !== first.path)
      throw invalidArgument({ field: "to", description: `must be an image of the same repo, ${first.path}` });
    const [one, other] = [referenceOf("from", first), referenceOf("to", second)];
    const repoUid = await findRepo(call, first.path);
    const diff = await call(DiffsService.method.getDiff, { repoUid, from: one, to: other, pageSize, pageToken });
    const [sideFrom, sideTo] = [sideOf(first, one, diff.from), sideOf(second, other, diff.to)];
    const vulnerabilities = diff.vulnerabilities.map((each) => ({
      change: changeOf(each.kind),
      vulnerability: each.vulnerability,
      severity: severityName(each.severity),
      package: each.name,
    }));
    const packages = diff.packages.map((each) => ({
      change: changeOf(each.kind),
      name: each.name,
      purl: each.purl,
      from_versions: each.fromVersions,
      to_versions: each.toVersions,
    }));
    const stale = staleOf(diff.staleFeeds);
    const unknown = unknownOf(diff);
    const lines = [
      `${sideFrom.image} (${sideFrom.digest}) compared with ${sideTo.image} (${sideTo.digest})`,
      `packages: ${diff.addedPackages} added, ${diff.removedPackages} removed, ${diff.changedPackages} changed${diff.packagesComplete ? "" : " (not all are known)"}`,
      `vulnerabilities: ${diff.addedVulnerabilities} added, ${diff.removedVulnerabilities} removed, ${diff.changedVulnerabilities} changed${diff.vulnerabilitiesComplete ? "" : " (not all are known)"}`,
      ...unknown.map(
        ({ side, platform, ...why }) =>
          `not known of ${side}${platform === "" ? "" : `, ${platform}`}: ${why.packages || why.vulnerabilities}`,
      ),
      ...staleLines(stale),
      ...packages.map(
        (each) => `${each.change} ${each.name} ${each.from_versions.join(", ")} → ${each.to_versions.join(", ")}`,
      ),
      ...vulnerabilities.map((each) => `${each.change} ${each.vulnerability} ${each.severity} ${each.package}`),
    ];
    return {
      answer: {
        from: sideFrom,
        to: sideTo,
        packages,
        packages_complete: diff.packagesComplete,
        vulnerabilities,
        vulnerabilities_complete: diff.vulnerabilitiesComplete,
        unknown,
        stale_feeds: stale,
        config: configOf(diff),
        next_page_token: diff.nextPageToken,
      },
      text: linesOf(lines, diff.nextPageToken),
      resource: repoUid,
    };
  },
});

function isReference(text: string): boolean {
  return !text.includes("/");
}

function markOf(text: string): string {
  return /^sha(?:256|512):/.test(text) ? "@" : ":";
}

/** The image as the method names it: a tag, a digest or tag@time. */
function referenceOf(field: string, { tag, digest, time }: ImageName): string {
  if (tag === "" && digest === "")
    throw invalidArgument({ field, description: "must name a tag or a digest, as acme/app:1.2" });
  return digest || (time === "" ? tag : `${tag}@${time}`);
}

function sideOf(
  { path }: ImageName,
  reference: string,
  side: Diff["from"],
): { image: string; digest: string; size_bytes: number } {
  return {
    image: `${path}${markOf(reference)}${reference}`,
    digest: side?.digest ?? "",
    size_bytes: Number(side?.size ?? 0n),
  };
}

function unknownOf({ platforms }: Diff) {
  return platforms.flatMap(({ platform, ...sides }) =>
    (["from", "to"] as const).flatMap((side) => {
      const { packagesReason: packages = "", vulnerabilitiesReason: vulnerabilities = "" } = sides[side] ?? {};
      return packages === "" && vulnerabilities === "" ? [] : [{ side, platform, packages, vulnerabilities }];
    }),
  );
}

function configOf(diff: Diff): z.infer<typeof VALUES> {
  return diff.platforms.flatMap(({ platform, config, labels }) =>
    [...config, ...labels].map(({ name, from, to }) => ({
      platform,
      name,
      ...(from !== undefined && { from }),
      ...(to !== undefined && { to }),
    })),
  );
}

function changeOf(kind: ChangeKind): z.infer<typeof CHANGE> {
  if (kind === ChangeKind.ADDED) return "added";
  return kind === ChangeKind.REMOVED ? "removed" : "changed";
}
