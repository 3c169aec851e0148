// Applies a plan: groups, repos, histories, then content; the same again goes on where it was.
import { textIn } from "../api/json-fields.ts";
import { moveFolderRepo } from "./apply-folder.ts";
import { applyEnds } from "./apply-ends.ts";
import { applyLabels } from "./apply-labels.ts";
import { applyMembers } from "./apply-members.ts";
import { applyPolicies } from "./apply-policies.ts";
import { applyRobots } from "./apply-robots.ts";
import { applyGroups, applyRepo } from "./apply-repos.ts";
import { type Applying, forItem, type PlannedRepo, reposOf } from "./apply-context.ts";
import { tagsHere } from "./here.ts";
import type { SecretsFile } from "./secrets-file.ts";
import { inParallel } from "./parallel.ts";
import { freshTurnOf, judgeTags, turnOf, wholeTurnOf } from "./turns.ts";

/** Is shown how many repos have come so far. */
type Note = (done: number, total: number) => void;

/** What comes on request. */
interface Wanted {
  policies: boolean;
  /** Where new passwords of robots and codes of invites go; without it both are left. */
  secrets: SecretsFile | undefined;
  /** Whether what everybody pulls there is public here. */
  makesPublic: boolean;
}

/** Applies all that can come. What fails is in the results; throws what concerns everything. */
export async function applyPlan(
  applying: Applying,
  { policies, secrets, makesPublic }: Wanted,
  note: Note,
): Promise<void> {
  const { plan, results } = applying;
  for (const item of plan.items) if (item.action === "cannot") results.add(item, "cannot", item.why);
  await applyGroups(applying);
  const repos = reposOf(plan);
  let done = 0;
  note(done, repos.length);
  const move = async (repo: PlannedRepo): Promise<void> => {
    await moveRepo(applying, repo);
    await applyLabels(applying, repo);
    await applyEnds(applying, repo);
  };
  for await (const _ of inParallel(repos, move)) note((done += 1), repos.length);
  await applyRobots(applying, secrets);
  await applyMembers(applying, { secrets, makesPublic });
  await applyPolicies(applying, policies);
}

async function moveRepo(applying: Applying, planned: PlannedRepo): Promise<void> {
  const { rest, results, contents } = applying;
  const { item, tags } = planned;
  if (applying.plan.kind === "distribution") {
    if (contents === undefined) throw new Error("a plan of a folder is applied without it");
    return await moveFolderRepo(applying, planned, contents);
  }
  const applied = await applyRepo(applying, planned);
  if (applied === undefined) {
    // Tags that are not said of by now are only a past, of a repo that has come.
    const isFailed = results.isFailed(item);
    for (const tag of tags) results.add(tag, isFailed ? "failed" : "same", isFailed ? "its image failed" : "");
    return;
  }
  const { repo, isChanged } = applied;
  await forItem(results, item, async () => {
    const before = isChanged ? new Map<string, string>() : await tagsHere(rest, repo.uid);
    const sync = await (isChanged ? turnOf(rest, repo) : wholeTurnOf(rest, repo, tags));
    await judgeTags(applying, planned, repo, { sync, before });
  });
}

/**
 * Ends the following of the repos of the plan that have come whole: a last turn is made first. A repo whose turn fails
 * goes on following.
 */
export async function finishPlan(applying: Applying, note: Note): Promise<void> {
  const { plan, rest, here, results } = applying;
  const repos = reposOf(plan).filter(({ item }) => textIn(here.repos.get(item.target)?.sync, "source") !== "");
  let done = 0;
  const finish = async ({ item, tags }: PlannedRepo): Promise<void> => {
    const repo = here.repos.get(item.target);
    if (repo === undefined) return;
    await forItem(results, item, async () => {
      const sync = await freshTurnOf(rest, repo);
      // Of a repository without tags nothing is missed, whatever the registry answers of it.
      if (tags.length > 0 && textIn(sync, "state") !== "SYNC_STATE_SUCCEEDED") {
        results.fail(item, `goes on following: ${textIn(sync, "message") || textIn(sync, "state")}`);
        return;
      }
      const query = { updateMask: "syncConfig" };
      await rest.call("PATCH", `/registry/v2/repos/${repo.uid}`, { query, body: {} });
      results.add(item, "done");
    });
  };
  for await (const _ of inParallel(repos, finish)) note((done += 1), repos.length);
}
