import type { JsonObject } from "@bufbuild/protobuf";
import {
  GetAttachmentsRequestSchema,
  GetRawSbomRequestSchema,
  GetSbomRequestSchema,
  SbomFormat,
  type SbomsService,
} from "@moorage/api/messages";
import { validate } from "@moorage/kernel/aip/validate";
import { pathOf } from "@moorage/kernel/core/image-path";
import type { Service, ServiceContext } from "@moorage/kernel/core/service";
import { failedPrecondition, invalidArgument, notFound } from "@moorage/kernel/errors";
import { repos } from "@moorage/registry/registry";
import { attachmentsOf, countUnsigned } from "../images/attachments.ts";
import { weighBytes } from "../images/weights.ts";
import { cycloneDxDocument } from "./document.ts";
import { type Holdings, holdingsOf, sourcesFor } from "../images/holdings.ts";

/** The largest document that is answered whole, in bytes. */
const MAX_RAW_BYTES = 16 << 20;

/** The most contradictions that are answered; all are counted. */
const MAX_CONTRADICTIONS = 200;

/** Where the sources contradict each other. */
function contradictionsIn({ packages }: Holdings) {
  const found = packages.filter(({ contradictions }) => contradictions.length > 0);
  return {
    contradictions: found.slice(0, MAX_CONTRADICTIONS).map(({ purl, version, sources, contradictions }) => {
      return { purl, version, sources, contradictedBy: contradictions };
    }),
    contradictionsTotal: found.length,
  };
}

/** Documents of what images hold. */
export function sbomsService({ readBlob }: Pick<ServiceContext, "readBlob">): Service<typeof SbomsService> {
  return {
    async getSbom(call, request) {
      validate(GetSbomRequestSchema, request);
      const { repoUid: repo, digest, architecture, source } = request;
      await repos.get(call.tx, repo);
      const query = { repo, digest, architecture, source };
      if (request.format === SbomFormat.SPDX) {
        const holdings = await holdingsOf(call, query);
        const subject = { name: await pathOf(call.tx, repo), digest };
        // Loaded at first use: a server that is not asked for documents does without the libraries.
        const { spdxOf } = await import("./spdx.ts");
        const document = spdxOf(subject, holdings) as JsonObject;
        return { format: SbomFormat.SPDX, document, sources: holdings.sources, ...contradictionsIn(holdings) };
      }
      const { document, holdings } = await cycloneDxDocument(call, query);
      return {
        format: SbomFormat.CYCLONEDX,
        document: JSON.parse(document) as JsonObject,
        sources: holdings.sources,
        ...contradictionsIn(holdings),
      };
    },
    async getRawSbom(call, request) {
      validate(GetRawSbomRequestSchema, request);
      const { repoUid: repo, digest, architecture, source } = request;
      await repos.get(call.tx, repo);
      const all = await sourcesFor(call.tx, { repo, digest, architecture, source }, { claims: true });
      // What is attached to the index itself is about none of its images.
      const own = all.filter(({ image }) => image.digest === digest);
      const found = own.length > 0 ? own : all;
      if (new Set(found.map(({ image }) => image.digest)).size !== 1)
        throw invalidArgument({ field: "architecture", description: "must name one image of the index" });
      // The document that counts most; where none does, what others attached last.
      const attached = found.find(({ source: each }) => each.layer !== undefined);
      if (attached?.source.layer === undefined)
        throw failedPrecondition({
          type: "SBOM_NOT_ATTACHED",
          subject: digest,
          description: "no document is attached: what is known was read from the layers, or reported by a scanner",
        });
      const { source: name, layer, mediaType = "" } = attached.source;
      const stored = await call.tx.selectFrom("blobs").select("size").where("digest", "=", layer).executeTakeFirst();
      weighBytes(call, Math.min(Number(stored?.size ?? 0), MAX_RAW_BYTES));
      const content = await readBlob(call, repo, layer, MAX_RAW_BYTES);
      if (content === undefined)
        throw failedPrecondition({
          type: "SBOM_TOO_LARGE",
          subject: layer,
          description: `the document has more than ${MAX_RAW_BYTES} bytes: pull it as a blob of the repo`,
        });
      return { content, mediaType, source: name };
    },
    async getAttachments(call, request) {
      validate(GetAttachmentsRequestSchema, request);
      const { repoUid: repo, digest } = request;
      await repos.get(call.tx, repo);
      const row = await call.tx
        .selectFrom("manifests")
        .select("digest")
        .where("repo", "=", repo)
        .where("digest", "=", digest)
        .executeTakeFirst();
      if (row === undefined) throw notFound("moorage.registry.v2.Image", digest);
      const attachments = await attachmentsOf(call, { repo, digest, isListed: request.unmatched });
      return { attachments, unsignedDocuments: await countUnsigned(call.tx, { repo, digest }) };
    },
  };
}
