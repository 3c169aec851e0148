import type { JsonObject } from "@bufbuild/protobuf";
import {
  type AdvisoryExportsService,
  Capability,
  GetImageVexDocumentRequestSchema,
  VexFormat,
} from "@moorage/api/messages";
import { validate } from "@moorage/kernel/aip/validate";
import type { Service, ServiceContext } from "@moorage/kernel/core/service";
import { failedPrecondition } from "@moorage/kernel/errors";
import { isWithin } from "@moorage/kernel/lib/uid";
import { repos } from "@moorage/registry/registry";
import { digestOf, parseReference } from "../images/references.ts";
import { csafOf } from "./csaf.ts";
import { decisionsOf } from "./decisions.ts";
import { imageVexOf } from "./image-vex.ts";
import { openVexOf } from "./openvex.ts";
import { osvOf } from "./osv.ts";
import { publisherOf } from "./publisher.ts";

/** The decisions of groups for other tools: docs/advisories.md, "Exports". */
export function advisoryExportsService({
  baseUrl = "",
  registryUrl = baseUrl,
}: ServiceContext): Service<typeof AdvisoryExportsService> {
  const place = { baseUrl, registryUrl };
  return {
    async getVexDocument(call, { group, format }) {
      const decisions = await decisionsOf(call, group);
      const publisher = await publisherOf(call, group, place);
      const isCsaf = format === VexFormat.CSAF;
      const document = isCsaf ? csafOf(decisions, publisher) : openVexOf(decisions, publisher);
      return { format: isCsaf ? VexFormat.CSAF : VexFormat.OPENVEX, document: document as JsonObject };
    },
    async getImageVexDocument(call, request) {
      validate(GetImageVexDocumentRequestSchema, request);
      const { repoUid: repo } = request;
      const reference = parseReference("reference", request.reference, call.nowMs);
      await repos.get(call.tx, repo);
      const digest = await digestOf(call, repo, reference);
      const readers = await call.visible(Capability.CAP_ADVISORIES_LIST);
      const { document, isKnown } = await imageVexOf(call, { repo, digest }, place, (advisory) =>
        readers.some((group) => isWithin(advisory, group)),
      );
      if (document === undefined) throw nothingSaid(digest, isKnown);
      return { format: VexFormat.OPENVEX, document: document as JsonObject };
    },
    async getOsvRecords(call, { group }) {
      const { list } = await decisionsOf(call, group);
      return { osvRecords: list.map((decision) => osvOf(decision) as JsonObject) };
    },
  };
}

function nothingSaid(subject: string, isKnown: boolean): Error {
  return failedPrecondition(
    isKnown
      ? {
          type: "NO_STATEMENTS",
          subject,
          description: "no advisory, attached document or feed says anything about a vulnerability in the image",
        }
      : {
          type: "IMAGE_NOT_READ",
          subject,
          description: `${subject}: it is not known what it holds: it waits to be read, could not be, or is no image`,
        },
  );
}
