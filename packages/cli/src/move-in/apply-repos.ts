// Groups, repos, and the histories of their tags: what is there before content comes.
import { objectIn, textIn } from "../api/json-fields.ts";
import type { JsonObject } from "../api/rest.ts";
import { ApiFailure } from "../api/failure.ts";
import { imageAt } from "./address.ts";
import { type Applying, forItem, type PlannedRepo, tagOf } from "./apply-context.ts";
import { lastReason, makeOrFind, type RepoHere, tagsHere } from "./here.ts";
import type { PlanItem } from "./plan.ts";

const MAX_MOVES = 1_000;
// No tag begins so: what follows it has to wait until the histories are here.
const NO_TAG = "-";

/** Makes the groups that are not there, outermost first. */
export async function applyGroups({
  plan,
  rest,
  here,
  results,
}: Pick<Applying, "plan" | "rest" | "here" | "results">): Promise<void> {
  const groups = plan.items.filter(({ kind, action }) => kind === "group" && action !== "cannot");
  for (const item of groups.toSorted((one, other) => one.target.length - other.target.length)) {
    if (here.groups.has(item.target)) {
      results.add(item, "same");
      continue;
    }
    const cut = item.target.lastIndexOf("/");
    const parent = here.groups.get(item.target.slice(0, cut));
    if (parent === undefined) {
      results.add(item, "failed", "the group above it is not there");
      continue;
    }
    await forItem(results, item, async () => {
      const place = { path: "/iam/v2/groups", field: "groups", parent };
      const group = await makeOrFind(rest, place, { name: item.target.slice(cut + 1) });
      here.groups.set(item.target, textIn(group, "uid"));
      results.add(item, "done");
    });
  }
}

/**
 * Makes the repo, imports the histories of its tags, and has it follow its image at the source. Returns the repo when
 * it follows, and whether that was changed; undefined when all that the plan has of it is here, or it failed.
 */
export async function applyRepo(
  applying: Applying,
  repo: PlannedRepo,
): Promise<{ repo: RepoHere; isChanged: boolean } | undefined> {
  const { here, results } = applying;
  const { item } = repo;
  return forItem(results, item, async () => {
    const found = here.repos.get(item.target);
    const follows = textIn(found?.sync, "source");
    const own = imageAt(applying.plan.address, item.source);
    if (follows !== "" && follows !== own) {
      results.add(item, "failed", `follows ${follows}`);
      return undefined;
    }
    if (found !== undefined && follows === "" && (await isComplete(applying, repo, found))) {
      results.add(item, "same");
      return undefined;
    }
    const withMoves = applying.history && repo.tags.some(({ moves = [] }) => moves.length > 0);
    const waits = withMoves || applying.contents !== undefined;
    const made = found ?? (await createRepo(applying, item, syncConfigOf(applying, own, waits)));
    if (made === undefined) return undefined;
    const isNew = found === undefined;
    if (waits && !isNew && follows === "") await follow(applying, made, syncConfigOf(applying, own, true));
    await applying.contents?.bring(
      made.uid,
      repo.tags.flatMap((tag) => digestsOf(applying, tag)),
    );
    if (withMoves) await importMoves(applying, made, repo, own);
    const isChanged = await follow(applying, made, syncConfigOf(applying, own, false));
    results.add(item, isNew || isChanged ? "done" : "same");
    return { repo: made, isChanged: isNew || isChanged };
  });
}

/** Whether every tag of the plan is here as it is there, or was moved or deleted here. */
async function isComplete({ rest, results }: Applying, { tags }: PlannedRepo, { uid }: RepoHere): Promise<boolean> {
  const known = await tagsHere(rest, uid);
  for (const item of tags) {
    if (item.digest === "") continue;
    if (known.get(tagOf(item)) === item.digest) results.add(item, "same");
    else if (!isOurs(await lastReason(rest, uid, tagOf(item)))) results.add(item, "kept", "was moved here");
    else return false;
  }
  return true;
}

/** Whether a tag was last moved by its coming here, or never. */
export function isOurs(reason: string): boolean {
  return reason === "" || reason === "mirror" || reason === "import";
}

/** Makes the repo of an item. Undefined when the group above it is not there: then it failed. */
export async function createRepo(
  { rest, here, results }: Applying,
  item: PlanItem,
  syncConfig?: JsonObject,
): Promise<RepoHere | undefined> {
  const cut = item.target.lastIndexOf("/");
  const parent = here.groups.get(item.target.slice(0, cut));
  if (parent === undefined) {
    results.add(item, "failed", "the group above it is not there");
    return undefined;
  }
  const body = { name: item.target.slice(cut + 1), ...(syncConfig !== undefined && { syncConfig }) };
  const made = await makeOrFind(rest, { path: "/registry/v2/repos", field: "repos", parent }, body);
  const repo = { uid: textIn(made, "uid"), sync: objectIn(made, "syncConfig") };
  const follows = textIn(repo.sync, "source");
  if (follows !== "" && follows !== textIn(syncConfig, "source")) {
    results.add(item, "failed", `follows ${follows}`);
    return undefined;
  }
  here.repos.set(item.target, repo);
  return repo;
}

/** The source of a repo here. `waits`: its tags do not follow yet. */
function syncConfigOf({ pull, history }: Applying, source: string, waits: boolean): JsonObject {
  const { username, password } = pull;
  return {
    source,
    pullThrough: true,
    keepMoved: true,
    history,
    tagPattern: waits ? NO_TAG : "",
    ...(username !== "" && { username, password }),
  };
}

/** Has the repo follow so, unless it does. Returns whether it was changed. */
async function follow({ rest }: Applying, repo: RepoHere, syncConfig: JsonObject): Promise<boolean> {
  const { password: _, ...shown } = syncConfig;
  const isSame = Object.entries(shown).every(([name, value]) => (repo.sync[name] ?? defaultOf(value)) === value);
  if (isSame && !(await wasRefused(rest, repo))) return false;
  const query = { updateMask: "syncConfig" };
  const changed = await rest.call("PATCH", `/registry/v2/repos/${repo.uid}`, { query, body: { syncConfig } });
  repo.sync = objectIn(changed, "syncConfig");
  return true;
}

/** Whether the last turn failed: then the password may be another one now. */
async function wasRefused(rest: Applying["rest"], { uid }: RepoHere): Promise<boolean> {
  return textIn(await rest.call("GET", `/registry/v2/repos/${uid}/sync`), "state") === "SYNC_STATE_FAILED";
}

function defaultOf(value: unknown): unknown {
  return typeof value === "boolean" ? false : "";
}

/** What a tag points to, and with its history what it pointed to before. */
export function digestsOf({ history }: Pick<Applying, "history">, { digest = "", moves = [] }: PlanItem): string[] {
  const past = history ? moves.map((move) => move.digest) : [];
  return [...new Set([digest, ...past])].filter((each) => each !== "");
}

/** Imports what the plan says of when tags moved. A tag that is refused ends no other. */
export async function importMoves(
  { rest, results }: Applying,
  { uid }: RepoHere,
  { tags }: PlannedRepo,
  source: string,
): Promise<void> {
  const path = `/registry/v2/tags/${uid}:importMoves`;
  const send = async (moves: JsonObject[]): Promise<void> => {
    for (let at = 0; at < moves.length; at += MAX_MOVES)
      await rest.call("POST", path, { body: { moves: moves.slice(at, at + MAX_MOVES), source }, reads: true });
  };
  const movesOf = (item: PlanItem): JsonObject[] =>
    (item.moves ?? []).map(({ digest, time }) => ({ tag: tagOf(item), digest, time }));
  try {
    await send(tags.flatMap(movesOf));
  } catch (error) {
    if (!(error instanceof ApiFailure) || error.httpStatus !== 400) throw error;
    for (const item of tags) await forItem(results, item, () => send(movesOf(item)));
  }
}
