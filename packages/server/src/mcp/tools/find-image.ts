import { SearchKind, SearchService } from "@moorage/api/messages";
import { z } from "zod";
import { linesOf, NEXT_PAGE_TOKEN, PAGE_SIZE, PAGE_TOKEN, timeText } from "../shared-schemas.ts";
import { defineTool } from "../tool.ts";

const KINDS = {
  repo: SearchKind.REPO,
  tag: SearchKind.TAG,
  digest: SearchKind.DIGEST,
  label: SearchKind.LABEL,
} as const;
const KIND_NAMES = ["repo", "tag", "digest", "label"] as const;

export const findImage = defineTool({
  name: "find_image",
  description:
    "Finds images by a part of their path, of a tag's name or of a label's key or value, or by the first digits of a digest. " +
    "Answers names such as acme/team/app:1.2, which all other tools take. A page may have few results although more follow.",
  methods: [SearchService.method.search],
  input: z.object({
    query: z.string().min(2).max(200).describe("The part to look for, in upper or lower case; key=value for labels."),
    kinds: z.array(z.enum(KIND_NAMES)).max(4).default([]).describe("Only these kinds of results; empty for all."),
    page_size: PAGE_SIZE,
    page_token: PAGE_TOKEN,
  }),
  output: z.object({
    results: z.array(
      z.object({
        kind: z.enum(KIND_NAMES),
        image: z.string().describe("acme/team/app, with :tag or @digest."),
        digest: z.string().describe("Empty for a repo."),
        label: z.string().describe("key=value of the label or annotation; empty for other kinds."),
        update_time: z.string(),
        repo_uid: z.string(),
      }),
    ),
    next_page_token: NEXT_PAGE_TOKEN,
  }),
  async run({ call }, { query, kinds, page_size: pageSize, page_token: pageToken }) {
    const found = await call(SearchService.method.search, {
      query,
      kinds: kinds.map((kind) => KINDS[kind]),
      pageSize,
      pageToken,
    });
    const results = found.results.flatMap((result) => {
      const kind = KIND_NAMES.find((name) => KINDS[name] === result.kind);
      if (kind === undefined) return [];
      const reference = kind === "repo" ? "" : kind === "tag" ? `:${result.tag}` : `@${result.digest}`;
      return [
        {
          kind,
          image: `${result.name}${reference}`,
          digest: result.digest,
          label: kind === "label" ? `${result.labelKey}=${result.labelValue}` : "",
          update_time: timeText(result.updateTime),
          repo_uid: result.repoUid,
        },
      ];
    });
    const lines = results.map(({ kind, image, label }) => `${kind} ${image}${label === "" ? "" : ` ${label}`}`);
    const text = results.length === 0 ? "Nothing was found on this page." : linesOf(lines, found.nextPageToken);
    const answer = { results, next_page_token: found.nextPageToken };
    return { answer, text: results.length === 0 ? linesOf([text], found.nextPageToken) : text, resource: "" };
  },
});
