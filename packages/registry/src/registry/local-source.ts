import { Capability } from "@moorage/api/messages";
import { isUid, organizationOf } from "@moorage/kernel/lib/uid";
import type { Call } from "@moorage/kernel/core/call";
import { resolveRepository } from "@moorage/kernel/core/image-path";
import { parseLocalSource } from "./image-source.ts";

/** A repo that follows an image of this installation. */
export interface LocalMirror {
  /** The uid of the repo that follows. */
  repo: string;
  /** The source: a repo's uid, or an image's path. */
  source: string;
  /** The identity that set it. */
  actor: string;
}

const NEEDED = [Capability.CAP_MANIFEST_LIST, Capability.CAP_REPO_BLOBS_GET, Capability.CAP_TAG_LIST];
const MAX_CHAIN = 32;

/**
 * The uid of the source's repo, at each run. Undefined when there is none, or when it is in another organization and
 * the identity that set it may no longer pull there: who loses that right gets no more by a mirror either.
 */
export async function localSourceOf(call: Call, { repo, source, actor }: LocalMirror): Promise<string | undefined> {
  const found = await findSource(call, source);
  return found !== undefined && (await isAllowed(call, repo, found, actor)) ? found : undefined;
}

/**
 * Why the repo cannot follow the source, when it is set: there is no such image, the caller may not pull it, or it is
 * the repo itself or follows it. Undefined when it can. What is not there and what the caller may not see are answered
 * alike.
 */
export async function localFault(call: Call, repo: string, source: string): Promise<string | undefined> {
  const found = await findSource(call, source);
  const may =
    found !== undefined && (await mayPull(call, found)) && (await isAllowed(call, repo, found, call.caller.identity));
  if (!may)
    return "names no image of this installation that you may pull; for another registry say its host, with a dot or a port";
  let at: string | undefined = found;
  for (let steps = 0; at !== undefined && steps < MAX_CHAIN; steps += 1) {
    if (at === repo) return steps === 0 ? "must not be the repo itself" : "follows this repo itself";
    at = await sourceOf(call, at);
  }
  return at === undefined ? undefined : `is at the end of more than ${MAX_CHAIN} repos that follow each other`;
}

async function findSource(call: Call, source: string): Promise<string | undefined> {
  if (!isUid(source)) return (await resolveRepository(call, source)).repo;
  const row = await call.tx.selectFrom("repos").select("uid").where("uid", "=", source).executeTakeFirst();
  return row?.uid;
}

/** The uid of the local source that a repo follows. Undefined when it has none. */
async function sourceOf(call: Call, repo: string): Promise<string | undefined> {
  const row = await call.tx.selectFrom("repos").select("sync_config").where("uid", "=", repo).executeTakeFirst();
  const config = JSON.parse(row?.sync_config ?? "{}") as { source?: string };
  const source = parseLocalSource(config.source ?? "");
  return source === undefined ? undefined : await findSource(call, source);
}

async function mayPull(call: Call, source: string): Promise<boolean> {
  for (const capability of NEEDED) if (!(await call.may(capability, source))) return false;
  return true;
}

async function isAllowed(call: Call, repo: string, source: string, actor: string): Promise<boolean> {
  if (organizationOf(repo) === organizationOf(source)) return true;
  for (const capability of NEEDED) if (!(await call.heldBy(actor, capability, source))) return false;
  return true;
}
