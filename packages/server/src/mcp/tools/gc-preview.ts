import { OperationsService } from "@moorage/api/messages";
import { z } from "zod";
import { defineTool } from "../tool.ts";

const COUNTS = { tags: z.number(), manifests: z.number(), blobs: z.number(), bytes: z.number() };

export const gcPreview = defineTool({
  name: "gc_preview",
  description:
    "Counts what garbage collection would remove now, in all and by repo, and removes nothing. For operators of the installation. It may take most of a minute.",
  methods: [OperationsService.method.previewGarbageCollection],
  input: z.object({}),
  output: z.object({
    ...COUNTS,
    repos: z.array(z.object({ image: z.string(), ...COUNTS })).describe("The repos that would free the most bytes."),
    repo_count: z.number(),
  }),
  async run({ call }) {
    const preview = await call(OperationsService.method.previewGarbageCollection, {});
    const { tags, manifests, blobs, bytes } = countsOf(preview);
    return {
      answer: {
        ...countsOf(preview),
        repos: preview.repos.map((repo) => ({ image: repo.name, ...countsOf(repo) })),
        repo_count: Number(preview.repoCount),
      },
      text: `It would remove ${tags} tags, ${manifests} manifests and ${blobs} links of blobs in ${preview.repoCount} repos, and free ${bytes} bytes.`,
      resource: "",
    };
  },
});

function countsOf(counted: { tags: bigint; manifests: bigint; blobs: bigint; bytes: bigint }): {
  tags: number;
  manifests: number;
  blobs: number;
  bytes: number;
} {
  return {
    tags: Number(counted.tags),
    manifests: Number(counted.manifests),
    blobs: Number(counted.blobs),
    bytes: Number(counted.bytes),
  };
}
