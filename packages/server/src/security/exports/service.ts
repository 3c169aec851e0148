import type { JsonObject } from "@bufbuild/protobuf";
import { type AdvisoryExportsService, VexFormat } from "@moorage/api/messages";
import type { Call } from "../../core/call.ts";
import type { Service, ServiceContext } from "../../core/service.ts";
import { groups } from "../../iam/index.ts";
import { parentOf } from "../../lib/uid.ts";
import { csafOf } from "./csaf.ts";
import { decisionsOf } from "./decisions.ts";
import { openVexOf, type Publisher } from "./openvex.ts";
import { osvOf } from "./osv.ts";

/** The decisions of groups for other tools: docs/security-data.md, "Exports". */
export function advisoryExportsService({
  baseUrl = "",
  registryUrl = baseUrl,
}: ServiceContext): Service<typeof AdvisoryExportsService> {
  return {
    async getVexDocument(call, { group, format }) {
      const decisions = await decisionsOf(call, group);
      const publisher = await publisherOf(call, group, baseUrl, registryUrl);
      const isCsaf = format === VexFormat.CSAF;
      const document = isCsaf ? csafOf(decisions, publisher) : openVexOf(decisions, publisher);
      return { format: isCsaf ? VexFormat.CSAF : VexFormat.OPENVEX, document: document as JsonObject };
    },
    async getOsvRecords(call, { group }) {
      const { list } = await decisionsOf(call, group);
      return { osvRecords: list.map((decision) => osvOf(decision) as JsonObject) };
    },
  };
}

async function publisherOf({ tx }: Pick<Call, "tx">, group: string, url: string, registry: string): Promise<Publisher> {
  const names: string[] = [];
  for (let uid = group; uid !== ""; uid = parentOf(uid)) names.unshift((await groups.get(tx, uid)).name);
  return { name: names.join("/"), url, registry: registry.replace(/^https?:\/\//, "") };
}
