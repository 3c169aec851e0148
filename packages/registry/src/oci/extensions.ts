import { authorize } from "./request.ts";
import type { Exchange } from "./request.ts";
import { sendJson } from "./send.ts";

/**
 * GET /v2/_oci/ext/discover, and the same below a repository: the supported extensions of the distribution API. Source:
 * OCI distribution specification, extensions/_oci.md.
 */
export async function handleExtensions(exchange: Exchange): Promise<void> {
  const { name } = exchange;
  await authorize(exchange, name === "" ? [] : ["pull"]);
  const oci = `/v2/${name === "" ? "<name>" : name}/_oci`;
  const extension = {
    name: "_oci",
    url: "https://github.com/opencontainers/distribution-spec/blob/main/extensions/_oci.md",
    description:
      "Extensions that are here, and the history of a tag as opencontainers/distribution-spec pull request 606 proposes it",
    endpoints: [...(name === "" ? ["/v2/_oci/ext/discover"] : []), `${oci}/ext/discover`, `${oci}/tag-history/<tag>`],
  };
  sendJson(exchange, 200, { "content-type": "application/json" }, { extensions: [extension] });
}
