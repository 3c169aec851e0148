import type { Call } from "@moorage/kernel/core/call";
import { statement } from "@moorage/kernel/store";
import { type Exchange, onlyDigest, outOfReach } from "../request.ts";
import { RegistryError } from "../errors.ts";
import { scanOf } from "./gate.ts";

/** An index with more manifests below it, in all its nesting, is not followed further. */
const MAX_VISITED = 10_000;
// The number of digests in one statement: below every engine's limit of parameters.
const CHUNK = 500;

const selectReference = statement("select 1 from manifest_references where repo = ? and digest = ? and target = ?", [
  "text",
  "text",
  "text",
]);

/**
 * For a token that is limited to a digest: throws DENIED unless the wanted digest is that one, or a manifest or blob of
 * which it consists, in any nesting; and when the scan has ended that the token was made for. Other tokens cost
 * nothing. Nothing else is looked up, so the error does not reveal what the repo holds.
 */
export async function requireReach(exchange: Exchange, call: Call, repo: string, wanted: string): Promise<void> {
  const only = onlyDigest(exchange);
  if (only === undefined) return;
  const scan = scanOf(exchange.caller);
  if (scan !== undefined && !(await exchange.deps.isScanUnderWay(call.tx, scan)))
    throw new RegistryError("DENIED", "Permission denied: the scan that the token was made for has ended");
  if (wanted !== only && !(await consistsOf(call, repo, only, wanted))) throw outOfReach();
}

/** Whether the manifest refers to the digest, or a manifest below it does. */
async function consistsOf(call: Call, repo: string, manifest: string, wanted: string): Promise<boolean> {
  if ((await selectReference(call.tx, repo, manifest, wanted)).length > 0) return true;
  const visited = new Set([manifest]);
  for (let level = [manifest]; level.length > 0;) {
    const below = (await manifestsBelow(call, repo, level)).filter((digest) => !visited.has(digest));
    for (const digest of below) visited.add(digest);
    if (visited.size > MAX_VISITED) return false;
    if (await isReferred(call, repo, below, wanted)) return true;
    level = below;
  }
  return false;
}

async function manifestsBelow(call: Call, repo: string, digests: readonly string[]): Promise<string[]> {
  const found = new Set<string>();
  for (let at = 0; at < digests.length && found.size <= MAX_VISITED; at += CHUNK) {
    const rows = await call.tx
      .selectFrom("manifest_references")
      .select("target")
      .where("repo", "=", repo)
      .where("digest", "in", digests.slice(at, at + CHUNK))
      .where("kind", "=", "manifest")
      .limit(MAX_VISITED + 1)
      .execute();
    for (const { target } of rows) found.add(target);
  }
  return [...found];
}

async function isReferred(call: Call, repo: string, digests: readonly string[], wanted: string): Promise<boolean> {
  for (let at = 0; at < digests.length; at += CHUNK) {
    const row = await call.tx
      .selectFrom("manifest_references")
      .select("digest")
      .where("repo", "=", repo)
      .where("digest", "in", digests.slice(at, at + CHUNK))
      .where("target", "=", wanted)
      .limit(1)
      .executeTakeFirst();
    if (row !== undefined) return true;
  }
  return false;
}
