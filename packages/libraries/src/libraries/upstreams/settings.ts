import type { Call } from "@moorage/kernel/core/call";
import type { Row } from "@moorage/kernel/store";
import { statement } from "@moorage/kernel/store";
import { type ArtifactName, isTaken } from "../artifacts/names.ts";
import type { Ecosystem } from "../ecosystem/ecosystem.ts";
import { isNamedBy } from "./names.ts";

/** The upstream that is asked for a name, and what the group itself has under it. */
export interface UpstreamSettings {
  uid: string;
  group: string;
  ecosystem: Ecosystem;
  /** Without a slash at the end. */
  url: string;
  username: string;
  /** Sealed; empty for none. */
  credential: string;
  /** The group has published something under the name: its versions count before those of the upstream. */
  isMerged: boolean;
}

const selectUpstream = statement<Row<"upstreams">>("select * from upstreams where parent = ? and ecosystem = ?", [
  "text",
  "bigint",
]);

/**
 * The upstream that a group asks for what a name means. Undefined: nobody is asked, and what the group holds is all
 * that there is: it has no upstream, or one that is disabled; the name is the group's own (it has published something
 * under it, even if that was removed since) and is none of `merged_names`; or it is one of `reserved_names`. Checks no
 * rights, and not whether the ecosystem takes such names.
 */
export async function upstreamFor(
  call: Call,
  { group, ecosystem, normalized }: ArtifactName & { ecosystem: Ecosystem },
): Promise<UpstreamSettings | undefined> {
  const [row] = await selectUpstream(call.tx, group, ecosystem.number);
  if (row === undefined || row.disabled === 1) return undefined;
  if (isNamedBy(patternsOf(row.reserved_names), normalized, ecosystem)) return undefined;
  const isMerged = await isTaken(call.tx, { group, ecosystem, normalized });
  if (isMerged && !isNamedBy(patternsOf(row.merged_names), normalized, ecosystem)) return undefined;
  return settingsOf(row, ecosystem, isMerged);
}

/** The upstream of a group and ecosystem for what is of the registry as a whole, such as its keys. */
export async function upstreamOf(
  call: Call,
  group: string,
  ecosystem: Ecosystem,
): Promise<UpstreamSettings | undefined> {
  const [row] = await selectUpstream(call.tx, group, ecosystem.number);
  return row === undefined || row.disabled === 1 ? undefined : settingsOf(row, ecosystem, false);
}

function settingsOf(row: Row<"upstreams">, ecosystem: Ecosystem, isMerged: boolean): UpstreamSettings {
  const { uid, parent: group, username, credential } = row;
  return { uid, group, ecosystem, url: row.url.replace(/(?<!\/)\/+$/, ""), username, credential, isMerged };
}

function patternsOf(column: string): string[] {
  // The service writes a list of texts.
  return JSON.parse(column) as string[];
}
