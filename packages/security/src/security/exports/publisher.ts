import type { Call } from "@moorage/kernel/core/call";
import { groups } from "@moorage/platform/iam";
import { parentOf } from "@moorage/kernel/lib/uid";
import type { Publisher } from "./openvex.ts";

/** Where the installation is: its URL, and that of its registry. */
export interface Place {
  baseUrl: string;
  registryUrl: string;
}

/** The group as the one who publishes documents. Throws NOT_FOUND. */
export async function publisherOf(
  { tx }: Pick<Call, "tx">,
  group: string,
  { baseUrl, registryUrl }: Place,
): Promise<Publisher> {
  const names: string[] = [];
  for (let uid = group; uid !== ""; uid = parentOf(uid)) names.unshift((await groups.get(tx, uid)).name);
  return { name: names.join("/"), url: baseUrl, registry: registryUrl.replace(/^https?:\/\//, "") };
}
