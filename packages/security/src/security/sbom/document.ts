import { pathOf } from "@moorage/kernel/core/image-path";
import type { Call } from "@moorage/kernel/core/call";
import { type Holdings, holdingsOf, type HoldingsQuery } from "../images/holdings.ts";

/** What an image holds, with the CycloneDX document of it, and the path of the image. Throws as holdingsOf. */
export async function cycloneDxDocument(
  call: Pick<Call, "tx" | "weigh">,
  query: HoldingsQuery,
): Promise<{ document: string; holdings: Holdings; name: string }> {
  const holdings = await holdingsOf(call, query);
  const name = await pathOf(call.tx, query.repo);
  // Loaded at first use: a server that is not asked for documents does without the library.
  const { cycloneDxOf } = await import("./cyclonedx.ts");
  return { document: cycloneDxOf({ name, digest: query.digest }, holdings), holdings, name };
}
