import type { JsonObject } from "@bufbuild/protobuf";
import { GetSbomRequestSchema, SbomFormat, type SbomsService } from "@moorage/api/messages";
import { validate } from "../../aip/validate.ts";
import { pathOf } from "../../core/image-path.ts";
import type { Service } from "../../core/service.ts";
import { repos } from "../../registry/index.ts";
import { holdingsOf } from "./holdings.ts";

/** Documents of what images hold. */
export function sbomsService(): Service<typeof SbomsService> {
  return {
    async getSbom(call, request) {
      validate(GetSbomRequestSchema, request);
      const { repoUid: repo, digest, architecture } = request;
      await repos.get(call.tx, repo);
      const holdings = await holdingsOf(call, { repo, digest, architecture });
      const subject = { name: await pathOf(call.tx, repo), digest };
      // Loaded at first use: a server that is not asked for documents does without the libraries.
      if (request.format === SbomFormat.SPDX) {
        const { spdxOf } = await import("./spdx.ts");
        return { format: SbomFormat.SPDX, document: spdxOf(subject, holdings) as JsonObject };
      }
      const { cycloneDxOf } = await import("./cyclonedx.ts");
      return { format: SbomFormat.CYCLONEDX, document: JSON.parse(cycloneDxOf(subject, holdings)) as JsonObject };
    },
  };
}
