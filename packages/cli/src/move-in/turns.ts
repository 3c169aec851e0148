// The server copies content by itself; this waits for it, and says what came.
import { setTimeout as wait } from "node:timers/promises";
import { textIn } from "../api/json-fields.ts";
import type { JsonObject, RestClient } from "../api/rest.ts";
import { interruption } from "../command/interrupt.ts";
import { type Applying, type PlannedRepo, tagOf } from "./apply-context.ts";
import { isOurs } from "./apply-repos.ts";
import type { PlanItem } from "./plan.ts";
import { lastReason, type RepoHere, tagsHere } from "./here.ts";

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 5_000;
const UNDER_WAY = ["SYNC_STATE_PENDING", "SYNC_STATE_RUNNING"];

/** Waits until the repo's turn has ended. Its state then; `SYNC_STATE_UNSPECIFIED` when it follows nothing. */
export async function turnOf(rest: RestClient, { uid }: RepoHere): Promise<JsonObject> {
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(LONGEST_WAIT_MS, waitMs * 1.5)) {
    const sync = await rest.call("GET", `/registry/v2/repos/${uid}/sync`);
    if (!UNDER_WAY.includes(textIn(sync, "state"))) return sync;
    await wait(waitMs, undefined, { signal: interruption() });
  }
}

/** The end of the turn under way; of a fresh one when the last did not bring all tags of the plan. */
export async function wholeTurnOf(rest: RestClient, repo: RepoHere, tags: readonly PlanItem[]): Promise<JsonObject> {
  const sync = await turnOf(rest, repo);
  const known = await tagsHere(rest, repo.uid);
  const isWhole = tags.every((item) => item.digest === "" || known.has(tagOf(item)));
  return isWhole && textIn(sync, "state") === "SYNC_STATE_SUCCEEDED" ? sync : freshTurnOf(rest, repo);
}

/** Asks for a turn and waits until it has ended. */
export async function freshTurnOf(rest: RestClient, repo: RepoHere): Promise<JsonObject> {
  const before = textIn(await rest.call("GET", `/registry/v2/repos/${repo.uid}/sync`), "lastAttemptTime");
  await rest.call("POST", `/registry/v2/repos/${repo.uid}:sync`, { body: {}, reads: true });
  for (;;) {
    const sync = await turnOf(rest, repo);
    if (textIn(sync, "lastAttemptTime") !== before) return sync;
    await wait(FIRST_WAIT_MS, undefined, { signal: interruption() });
  }
}

/** Says of each tag of the repo what came of it, after a turn that ended so. `before`: the digests here before. */
export async function judgeTags(
  applying: Applying,
  { tags }: PlannedRepo,
  repo: RepoHere,
  { sync, before }: { sync: JsonObject; before: ReadonlyMap<string, string> },
): Promise<void> {
  const { rest, results, history } = applying;
  const known = await tagsHere(rest, repo.uid);
  const message = textIn(sync, "message");
  for (const item of tags) {
    const tag = tagOf(item);
    const now = known.get(tag);
    if (item.digest === "") {
      const isHere = (await lastReason(rest, repo.uid, tag)) !== "";
      results.add(item, isHere ? "done" : history ? "failed" : "cannot", isHere ? "" : "its history did not come");
    } else if (now === item.digest) results.add(item, before.get(tag) === now ? "same" : "done");
    else if (!isOurs(await lastReason(rest, repo.uid, tag))) results.add(item, "kept", "was moved here");
    else if (now === undefined) results.add(item, "failed", message === "" ? "is not here" : message);
    else results.add(item, "done", "moved at the source since the plan was made");
  }
}
