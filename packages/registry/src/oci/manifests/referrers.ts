import { Capability } from "@moorage/api/messages";
import { OCI_INDEX } from "@moorage/kernel/core/media-types";
import { authorize } from "../request.ts";
import type { Exchange } from "../request.ts";
import { isDigest } from "../digests.ts";
import { undefinedIfUnknown, RegistryError } from "../errors.ts";
import { pullableRepository } from "../names.ts";
import { sendJson } from "../send.ts";
import { nextOfRepository, pageSize } from "../tags/list.ts";

/**
 * GET /v2/<name>/referrers/<digest>: the manifests whose subject is the digest, as an image index. The list is empty
 * for an unknown digest or repository. Ordered by digest, at most 1000 a page, then a Link (with `n` and `last`, as for
 * tags). Source: OCI distribution specification v1.1, "Listing Referrers".
 */
export async function handleReferrers(exchange: Exchange, { digest }: { digest: string }): Promise<void> {
  await authorize(exchange, ["pull"]);
  const { deps, name, query } = exchange;
  if (!isDigest(digest))
    throw new RegistryError("DIGEST_INVALID", "Invalid argument: digest: must be a sha256 or sha512 digest");
  const count = pageSize(query);
  const artifactType = query.get("artifactType") ?? "";
  const found = await deps.transactor.read(exchange.callData, async (call) => {
    // After a 404 clients fall back to the referrers tag schema of version 1.0, so a missing repo answers an empty
    // list.
    const repo = await pullableRepository(call, deps.config, name, { digest }, [Capability.CAP_REFERRERS_LIST]).catch(
      undefinedIfUnknown,
    );
    if (repo === undefined) return [];
    const all = call.tx
      .selectFrom("manifests")
      .select(["digest", "media_type", "size", "artifact_type", "annotations"])
      .where("repo", "=", repo)
      .where("subject", "=", digest)
      .where("digest", ">", query.get("last") ?? "")
      .orderBy("digest")
      .limit(count + 1);
    return (artifactType === "" ? all : all.where("artifact_type", "=", artifactType)).execute();
  });
  const manifests = found.slice(0, count).map((row) => ({
    mediaType: row.media_type,
    digest: row.digest,
    size: row.size,
    ...(row.artifact_type !== "" && { artifactType: row.artifact_type }),
    ...(row.annotations !== "{}" && { annotations: JSON.parse(row.annotations) as Record<string, string> }),
  }));
  const filter: Record<string, string> = artifactType === "" ? {} : { artifactType };
  const next = { ...filter, n: String(count), last: manifests.at(-1)?.digest ?? "" };
  const more = found.length > count && count > 0 ? nextOfRepository(exchange, `referrers/${digest}`, next) : {};
  const applied: Record<string, string> = artifactType === "" ? {} : { "oci-filters-applied": "artifactType" };
  sendJson(
    exchange,
    200,
    { "content-type": OCI_INDEX, ...applied, ...more },
    { schemaVersion: 2, mediaType: OCI_INDEX, manifests },
  );
}
