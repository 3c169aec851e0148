import { FindingsService, type ImageCoverage, TagsService } from "@moorage/api/messages";
import { z } from "zod";
import { digestOf } from "../find-digest.ts";
import { findRepo } from "../find-resources.ts";
import { parseImageName } from "../image-names.ts";
import { counted, helpOf, STATE, stateName, uncomparedLines, UNCOVERED } from "../knowledge.ts";
import { IMAGE, linesOf } from "../shared-schemas.ts";
import { STALE_FEEDS, staleLines, staleOf } from "../stale-feeds.ts";
import { defineTool } from "../tool.ts";

// Of each image, of which there may be 200.
const MAX_LISTED = 20;

const KNOWN = z.object({
  digest: z.string(),
  platform: z.string(),
  state: STATE,
  reason: z.string().describe("Why its findings are not known; empty when they are."),
  waits: z.boolean().describe("Whether they will be without anybody doing something."),
  packages: z.number(),
  uncovered: z
    .array(z.object({ ...UNCOVERED, packages: z.number() }))
    .describe("Packages that no feed covers, by ecosystem."),
  unread_files: z.number().describe("Files of its layers that could not be read or identified."),
  files: z.array(z.object({ path: z.string(), reason: z.string() })).describe(`The first ${MAX_LISTED} of these.`),
  not_compared: z.number().describe("Packages whose versions cannot be compared with those of records."),
  packages_not_compared: z.array(z.string()).describe(`The purls of the first ${MAX_LISTED} of these.`),
});

export const imageCoverage = defineTool({
  name: "image_coverage",
  description:
    "Says what is known of an image, or of each image of an index: whether it was read, which packages no feed covers, which files could not be read, and which versions cannot be compared. Without it a count of findings says nothing.",
  methods: [FindingsService.method.getCoverage, TagsService.method.listTagMoves],
  input: z.object({ image: IMAGE.describe("The image, as acme/team/app:1.2 or acme/team/app@sha256:….") }),
  output: z.object({
    image: z.string(),
    digest: z.string(),
    state: STATE.describe(
      "Of an index the least of its images. READ: the findings are known. NOT_READ: it is not known what the image holds. NO_DATA: no feed covers some of its packages.",
    ),
    images: z.array(KNOWN),
    stale_feeds: STALE_FEEDS,
  }),
  async run({ call, registryHost }, { image }) {
    const name = parseImageName("image", image, registryHost);
    const repoUid = await findRepo(call, name.path);
    const digest = await digestOf(call, repoUid, name);
    const coverage = await call(FindingsService.method.getCoverage, { repoUid, digest });
    const images = coverage.images.map(knownOf);
    const stale = staleOf(coverage.staleFeeds);
    const lines = images.flatMap(linesOfImage);
    return {
      answer: { image, digest, state: stateName(coverage.state), images, stale_feeds: stale },
      text: [linesOf(lines), ...staleLines(stale)].join("\n"),
      resource: repoUid,
    };
  },
});

function knownOf(image: ImageCoverage): z.infer<typeof KNOWN> {
  const { digest, platform, state, reason, waits, packages, uncovered, unreadFiles, files, notCompared } = image;
  return {
    digest,
    platform,
    state: stateName(state),
    reason,
    waits,
    packages,
    uncovered: uncovered.map((each) => ({ ecosystem: each.ecosystem, preset: each.preset, packages: each.packages })),
    unread_files: unreadFiles,
    files: files.slice(0, MAX_LISTED).map((file) => ({ path: file.path, reason: file.reason })),
    not_compared: notCompared,
    packages_not_compared: image.packagesNotCompared.slice(0, MAX_LISTED).map(({ purl }) => purl),
  };
}

function linesOfImage(image: z.infer<typeof KNOWN>): string[] {
  const { platform, digest, state, reason, packages, uncovered, unread_files: unread, files } = image;
  return [
    `${platform || digest}: ${state}${reason === "" ? "" : `: ${reason}`}, ${counted(packages, "package")}`,
    ...uncovered.map((each) => `  ${counted(each.packages, "package")} of ${each.ecosystem}, no feed${helpOf(each)}`),
    ...(unread === 0 ? [] : [`  ${counted(unread, "file")} could not be read or identified:`]),
    ...files.map((file) => `    ${file.path}: ${file.reason}`),
    ...uncomparedLines(image.not_compared, `: ${image.packages_not_compared.join(", ")}`).map((line) => `  ${line}`),
  ];
}
