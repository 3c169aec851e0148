// Applies a plan of a folder: no registry is followed, so content, histories and tags are all brought by this command.
import { setTimeout as wait } from "node:timers/promises";
import { objectsIn, textIn } from "../api/json-fields.ts";
import { isObject } from "@moorage/kernel/lib/json";
import type { JsonObject, RestClient } from "../api/rest.ts";
import { ApiFailure } from "../api/failure.ts";
import { interruption } from "../command/interrupt.ts";
import { type Applying, forItem, type PlannedRepo, tagOf } from "./apply-context.ts";
import { createRepo, digestsOf, importMoves, isOurs } from "./apply-repos.ts";
import type { FolderContents } from "./folder-adoption.ts";
import type { FolderContent, FolderManifest } from "./folder-content.ts";
import { lastReason, type RepoHere, tagsHere } from "./here.ts";
import { ItemFailure } from "./item-failure.ts";
import type { PlanItem } from "./plan.ts";
import { SourceError } from "./source-error.ts";

const ATTEMPTS = 4;
const FIRST_WAIT_MS = 500;
const CONFLICT = 409;

/** Brings a repository with its tags. What fails is in the results. */
export async function moveFolderRepo(
  applying: Applying,
  planned: PlannedRepo,
  contents: FolderContents,
): Promise<void> {
  const { here, rest, results } = applying;
  const { item, tags } = planned;
  await forItem(results, item, async () => {
    const found = here.repos.get(item.target);
    const follows = textIn(found?.sync, "source");
    if (follows !== "") return results.fail(item, `follows ${follows}`);
    const repo = found ?? (await createRepo(applying, item));
    if (repo === undefined) return;
    const known = await tagsHere(rest, repo.uid);
    const wanted = tags.filter((tag) => known.get(tagOf(tag)) !== tag.digest);
    const come = await bringTags(applying, { repo, item, tags: wanted }, contents);
    // With one part of a tag's past, the rest can come later: so it does with each run.
    if (applying.history) await importMoves(applying, repo, { item, tags: come, ends: [] }, nameOfSource(item));
    else for (const tag of come) await forItem(results, tag, () => createTag(rest, repo, tag));
    await judge(applying, repo, tags, known);
    const isSame = found !== undefined && wanted.length === 0;
    results.add(item, isSame ? "same" : "done");
  });
  if (results.isFailed(item)) for (const tag of tags) results.add(tag, "failed", "its image failed");
}

function nameOfSource({ source }: PlanItem): string {
  return `distribution/${source}`;
}

/** Brings the content of the tags. Answers those whose content is here; what is wrong with others is said. */
async function bringTags(
  { rest, results, history }: Applying,
  { repo, item, tags }: { repo: RepoHere; item: PlanItem; tags: readonly PlanItem[] },
  contents: FolderContents,
): Promise<PlanItem[]> {
  const come: PlanItem[] = [];
  for (const tag of tags) {
    const [now = "", ...past] = digestsOf({ history }, tag);
    const isHere = await forItem(results, tag, async () => {
      await bringDigest({ rest, repo, item, contents }, now);
      return true;
    });
    if (isHere !== true) continue;
    // What a tag had before comes as far as it is there.
    for (const digest of past)
      await bringDigest({ rest, repo, item, contents }, digest).catch((error: unknown) => {
        if (!(error instanceof ItemFailure)) throw error;
      });
    come.push(tag);
  }
  return come;
}

interface Bringing {
  rest: RestClient;
  repo: RepoHere;
  item: PlanItem;
  contents: FolderContents;
}

async function bringDigest({ rest, repo, item, contents }: Bringing, digest: string): Promise<void> {
  const content = await contentOf(contents, digest, item.source);
  const faults = await contents.hold(repo.uid, content.blobs);
  for (const [blob, fault] of faults) throw new ItemFailure(`the blob ${blob} ${fault}`);
  for (const manifest of content.manifests) await putManifest(rest, item.target, manifest);
}

async function contentOf({ reader }: FolderContents, digest: string, repo: string): Promise<FolderContent> {
  try {
    return await reader.contentOf(digest, repo);
  } catch (error) {
    throw error instanceof SourceError ? new ItemFailure(error.message, { cause: error }) : error;
  }
}

/** Stores a manifest with the caller's rights, as a push does. Throws an ItemFailure when it is refused. */
async function putManifest(rest: RestClient, name: string, { digest, mediaType, bytes }: FolderManifest) {
  for (let attempt = 1; ; attempt += 1) {
    const response = await rest.fetch(`/v2/${name}/manifests/${digest}`, {
      method: "PUT",
      audience: "registry",
      headers: { "content-type": mediaType },
      body: new Uint8Array(bytes),
    });
    const body: unknown = await response.json().catch(() => undefined);
    if (response.ok) return;
    const isPassing = response.status === 429 || response.status >= 500;
    if (!isPassing || attempt === ATTEMPTS) {
      const [error] = objectsIn((isObject(body) ? body : {}) as JsonObject, "errors");
      throw new ItemFailure(`${digest}: ${textIn(error, "message") || `the registry answers ${response.status}`}`);
    }
    await wait(FIRST_WAIT_MS * 3 ** (attempt - 1), undefined, { signal: interruption() });
  }
}

/** Sets a tag that is not there. One that came meanwhile stays. */
async function createTag(rest: RestClient, { uid }: RepoHere, tag: PlanItem): Promise<void> {
  try {
    await rest.call("POST", `/registry/v2/tags/${uid}`, { body: { name: tagOf(tag), digest: tag.digest ?? "" } });
  } catch (error) {
    if (!(error instanceof ApiFailure) || error.httpStatus !== CONFLICT) throw error;
  }
}

/** Says of each tag what came of it. `before`: the digests here before. */
async function judge(
  { rest, results }: Applying,
  { uid }: RepoHere,
  tags: readonly PlanItem[],
  before: ReadonlyMap<string, string>,
): Promise<void> {
  const known = await tagsHere(rest, uid);
  for (const tag of tags) {
    if (results.isFailed(tag)) continue;
    const now = known.get(tagOf(tag));
    if (now === tag.digest) results.add(tag, before.get(tagOf(tag)) === now ? "same" : "done");
    else if (now !== undefined) results.add(tag, "kept", `points to ${now} here`);
    else if (!isOurs(await lastReason(rest, uid, tagOf(tag)))) results.add(tag, "kept", "was deleted here");
    else results.fail(tag, "is not here");
  }
}
