import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { organizationOf } from "@moorage/kernel/lib/uid";
import { statement } from "@moorage/kernel/store";
import { emitCopy, isIntact, keepBlob } from "../oci/index.ts";
import { syncSettings } from "../registry/index.ts";
import { type MirrorPlace, requirePlace } from "./commands.ts";
import { type MirrorDeps, mirrorCall } from "./context.ts";
import type { Upstream } from "./registry-client.ts";

// Content that another repo of the organization has of the same registry. It is linked once that registry has said that
// the image there has it, too: whoever sets a source gets nothing by a claim of another registry's.

interface Shared {
  size: number;
  generation: string;
  suspect_time: number | null;
  sync_config: string | null;
}

const MAX_REPOS = 50;
const selectShared = statement<Shared>(
  "select b.size, b.generation, b.suspect_time, p.sync_config from repo_blobs as r join blobs as b on b.digest = r.digest join repos as p on p.uid = r.repo where r.digest = ? and r.repo >= ? and r.repo < ? and p.sync_config is not null limit ?",
  ["text", "text", "text", "bigint"],
);

/**
 * The registry that a mirror's content comes from: scheme, host and port. Empty for this installation, for repos of a
 * group that stands for a registry, and where it is unknown.
 */
export function originOf({ sync, upstream }: MirrorPlace): string {
  return upstream !== undefined || sync === "" ? "" : (syncSettings(sync)?.origin ?? "");
}

/** The copy of a blob that another repo of the organization has of the same registry. */
async function sharedCopy(call: Call, place: MirrorPlace, digest: string): Promise<Shared | undefined> {
  const origin = originOf(place);
  if (origin === "") return undefined;
  const organization = organizationOf(place.repo);
  // `0` comes after `/`.
  const found = await selectShared(call.tx, digest, `${organization}/`, `${organization}0`, MAX_REPOS);
  return found.find(
    ({ suspect_time: suspectMs, sync_config: sync }) => suspectMs === null && syncSettings(sync)?.origin === origin,
  );
}

/** Links such a copy to the repo. `linked`: false when there is none. */
export const linkSharedBlob = command(
  "mirroring.linkSharedBlob",
  async (call: Call, { place, digest }: { place: MirrorPlace; digest: string }): Promise<{ linked: boolean }> => {
    await requirePlace(call, place);
    const copy = await sharedCopy(call, place, digest);
    if (copy === undefined) return { linked: false };
    await emitCopy(call, { repo: place.repo, digest, type: "blob" });
    await keepBlob(call, place.repo, { digest, size: copy.size, generation: copy.generation });
    return { linked: true };
  },
);

/**
 * Links content that another repo of the organization has of the same registry, when the source has it. False when it
 * has to be fetched. Throws an UpstreamError, or a MoorageError of this server's stores.
 */
export async function linkShared(
  deps: Pick<MirrorDeps, "transactor" | "blobs" | "clock">,
  { place, upstream, digest, signal }: { place: MirrorPlace; upstream: Upstream; digest: string; signal: AbortSignal },
): Promise<boolean> {
  const copy = await deps.transactor.read(mirrorCall(deps), (call) => sharedCopy(call, place, digest));
  if (copy === undefined || !(await isIntact(deps, digest, copy, { fresh: true }))) return false;
  // Content of one digest has one size: what counts is that the source has it.
  if ((await upstream.blobSize(digest, copy.size, signal)) !== copy.size) return false;
  return (await deps.transactor.write(linkSharedBlob, mirrorCall(deps), { place, digest })).linked;
}
