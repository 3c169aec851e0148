import { SyncState } from "@moorage/api";
import { isReservedTag } from "../registry/index.ts";
import { isDigest } from "../oci/index.ts";
import { Code, MoorageError } from "../errors.ts";
import type { SyncSettings } from "../registry/index.ts";
import { type Copying, mirrorCall } from "./context.ts";
import { copyManifest, copyReferrers, holds } from "./copy.ts";
import { UpstreamError } from "./errors.ts";
import { followTag } from "./commands.ts";

/** How a turn went. */
export interface TurnResult {
  state: typeof SyncState.SUCCEEDED | typeof SyncState.FAILED | typeof SyncState.RATE_LIMITED;
  /** For the operator; empty when nothing went wrong. */
  message: string;
  /** Absent: they were not counted. */
  tagsSeen?: number;
  /** When the source wants to be asked again. */
  retryAfterMs?: number | undefined;
}

const MAX_FOLLOWED = 100_000;
// Statements stay below every engine's limit of parameters.
const CHUNK = 500;
const MAX_TOLD = 5;
// Tags that cosign and clients of OCI 1.0 put beside an image: they belong to its digest.
const COMPANION = /^(sha256)-([0-9a-f]{64})(?:\.(?:sig|att|sbom))?$/;

/**
 * Has the repo's tags follow those of its source, one after another: what was copied stays when a later one fails. Tags
 * that went there stay here. Throws what the signal says, and what our own stores do.
 */
export async function runTurn(copying: Copying, { follows }: Pick<SyncSettings, "follows">): Promise<TurnResult> {
  const stuck: string[] = [];
  const failed: string[] = [];
  let tagsSeen: number | undefined;
  try {
    const { followed, companions } = await listTags(copying, follows);
    tagsSeen = followed.length;
    const digests = new Set<string>();
    for (const { tag, before } of await inOrder(copying, followed))
      digests.add((await noted(tag, () => copyTag(copying, tag, before))) ?? "");
    const wanted = companions.filter(({ digest }) => digests.has(digest)).map(({ tag }) => tag);
    for (const { tag, before } of await inOrder(copying, wanted)) await noted(tag, () => copyTag(copying, tag, before));
  } catch (error) {
    if (!(error instanceof UpstreamError) || copying.signal.aborted) throw error;
    const state = error.kind === "limited" ? SyncState.RATE_LIMITED : SyncState.FAILED;
    return { state, message: error.message, ...counted(), retryAfterMs: error.retryAfterMs };
  }
  const told = [
    listed("could not be copied", failed),
    listed("moved at the source and must stay as they are here", stuck),
  ];
  const message = told.filter((text) => text !== "").join("; ");
  return { state: failed.length > 0 ? SyncState.FAILED : SyncState.SUCCEEDED, message, ...counted() };

  function counted(): { tagsSeen?: number } {
    return tagsSeen === undefined ? {} : { tagsSeen };
  }

  /** Notes what is wrong with this tag alone. */
  async function noted<T>(tag: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (copying.signal.aborted) throw error;
      if (error instanceof UpstreamError && error.kind === "wrong") failed.push(`${tag} (${error.message})`);
      else if (
        error instanceof MoorageError &&
        (error.code === Code.FailedPrecondition || error.code === Code.InvalidArgument)
      )
        stuck.push(tag);
      else throw error;
      return undefined;
    }
  }
}

function listed(what: string, tags: string[]): string {
  if (tags.length === 0) return "";
  const more = tags.length > MAX_TOLD ? `, and ${tags.length - MAX_TOLD} more` : "";
  return `${tags.length === 1 ? "1 tag" : `${tags.length} tags`} ${what}: ${tags.slice(0, MAX_TOLD).join(", ")}${more}`;
}

/** The tags to follow, and those that belong to digests. */
interface Listed {
  followed: string[];
  companions: { tag: string; digest: string }[];
}

async function listTags({ upstream, signal }: Copying, follows: SyncSettings["follows"]): Promise<Listed> {
  const followed = new Set<string>();
  const companions = new Map<string, string>();
  for await (const names of upstream.tags(signal)) {
    for (const tag of names) {
      const [, algorithm = "", hex = ""] = COMPANION.exec(tag) ?? [];
      const digest = `${algorithm}:${hex}`;
      // Nobody could tell them from what tags were at a time.
      if (isReservedTag(tag)) continue;
      if (follows(tag)) followed.add(tag);
      else if (isDigest(digest)) companions.set(tag, digest);
    }
    if (Math.max(followed.size, companions.size) <= MAX_FOLLOWED) continue;
    throw new UpstreamError("wrong", `more than ${MAX_FOLLOWED} tags are to be followed: narrow the tag pattern`);
  }
  return { followed: [...followed], companions: [...companions].map(([tag, digest]) => ({ tag, digest })) };
}

/**
 * The tags with what they point to here: first those that are not here, then the others in any order. A source that
 * lets a turn get only so far would otherwise keep us from the last ones for ever.
 */
async function inOrder({ deps, place }: Copying, tags: string[]): Promise<{ tag: string; before: string }[]> {
  const here = new Map<string, string>();
  for (let at = 0; at < tags.length; at += CHUNK) {
    const rows = await deps.transactor.read(mirrorCall(deps), (call) =>
      call.tx
        .selectFrom("tags")
        .select(["name", "digest"])
        .where("parent", "=", place.repo)
        .where("name", "in", tags.slice(at, at + CHUNK))
        .execute(),
    );
    for (const { name, digest } of rows) here.set(name, digest);
  }
  const known = [...here]
    .map(([tag, before]) => ({ tag, before, at: Math.random() }))
    .toSorted((one, other) => one.at - other.at);
  return [...tags.filter((tag) => !here.has(tag)).map((tag) => ({ tag, before: "" })), ...known];
}

/**
 * Copies what the tag points to at the source, if that is not here, and moves the tag. Answers that digest; undefined
 * when the tag is gone there.
 */
async function copyTag(copying: Copying, tag: string, before: string): Promise<string | undefined> {
  const { deps, place, upstream, signal } = copying;
  const digest = await upstream.digestOf(tag, signal);
  if (digest === undefined) return undefined;
  if (await holds(copying, digest)) await copyReferrers(copying, digest);
  else if (!(await copyAnew(copying, digest))) return undefined;
  if (digest === before) return digest;
  const { gone } = await deps.transactor.write(followTag, mirrorCall(deps), {
    ...place,
    tag,
    digest,
    before,
  });
  if (gone) throw new UpstreamError("wrong", "what it points to was deleted here meanwhile");
  return digest;
}

async function copyAnew(copying: Copying, digest: string): Promise<boolean> {
  const stored = await copying.upstream.manifest(digest, copying.signal);
  if (stored !== undefined) await copyManifest(copying, stored);
  return stored !== undefined;
}
