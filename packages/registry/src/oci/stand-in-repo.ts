import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { resolveRepository } from "@moorage/kernel/core/image-path";
import { isOrigin, noteOrigin, type StandIn, standInFor } from "../upstreams/index.ts";
import { makeRepository } from "./blobs/commands.ts";

/**
 * Creates the repo of that path for what a registry has that a group above stands for, unless it is there. Undefined
 * when the group no longer stands for it, or has a repo of its own there. Checks no rights: the server itself acts.
 */
export const makeStandInRepo = command(
  "oci.makeStandInRepo",
  async (call: Call, { path, standIn }: { path: string; standIn: StandIn }): Promise<{ repo: string | undefined }> => {
    const resolved = await resolveRepository(call, path);
    const { repo, group } = resolved;
    if (repo !== undefined) return { repo: (await isOrigin(call.tx, repo, standIn.uid)) ? repo : undefined };
    const now = group === undefined ? undefined : await standInFor(call.tx, group, path.split("/"));
    if (now?.standIn.uid !== standIn.uid || now.standIn.disabled) return { repo: undefined };
    const made = await makeRepository(call, resolved, now.standIn.repoPolicy);
    await noteOrigin(call.tx, made, standIn);
    return { repo: made };
  },
);
