import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { type Database, select, takeAdvisoryLock } from "@moorage/kernel/store";
import { checkDocuments } from "@moorage/registry/registry";
import { askedBy, documentPoliciesOf, documentPolicyChanges } from "@moorage/registry/trust";
import { CATALOGING } from "../catalog/command-options.ts";
import { readState, writeState } from "../causes/matching-state.ts";

const PAGE = 500;
const MAX_DUE = 100;

/** For which change of policies, and after which attachment. */
type Position = [change: number, repo: string, subject: string];

/**
 * Whether attached documents are to be judged again: a policy that says whose documents count has changed, or the time
 * has come at which a signature begins or ends to hold.
 */
export async function areDocumentsToBeJudged(tx: Database, nowMs: number): Promise<boolean> {
  const { value } = await readState(tx, "documents");
  return value !== (await documentPolicyChanges(tx)) || (await dueOf(tx, nowMs, 1)).length > 0;
}

/** Has a page of such documents judged again. Answers false when there were none. */
export const checkNextDocumentPolicies = command(
  "security.checkNextDocumentPolicies",
  async (call: Call, _input: Record<string, never>): Promise<{ checked: boolean }> => {
    const { tx, nowMs } = call;
    await takeAdvisoryLock(tx, "catalogs");
    const due = await dueOf(tx, nowMs, MAX_DUE);
    for (const { repo, subject } of due) await judgeAgain(call, repo, subject);
    const changes = await documentPolicyChanges(tx);
    const state = await readState(tx, "documents");
    if (state.value === changes) return { checked: due.length > 0 };
    const [change, repo, subject] = positionIn(state.position);
    const isBegun = change === changes;
    const rows = await attachedAfter(tx, isBegun ? [repo, subject] : ["", ""]);
    await checkDocumentsOfOtherPolicies(call, rows);
    const last = rows.at(-1);
    await writeState(
      tx,
      "documents",
      rows.length < PAGE || last === undefined
        ? { value: changes, position: "" }
        : { value: state.value, position: JSON.stringify([changes, last.repo, last.subject] satisfies Position) },
    );
    return { checked: true };
  },
  CATALOGING,
);

/** Has the documents judged again of those attachments that were judged by other policies than are in force now. */
export async function checkDocumentsOfOtherPolicies(
  call: Pick<Call, "tx" | "nowMs" | "wake">,
  rows: readonly { repo: string; subject: string; asked: string }[],
): Promise<void> {
  for (const [repo, own] of Map.groupBy(rows, (row) => row.repo)) {
    const policies = await documentPoliciesOf(call.tx, repo, call.nowMs);
    const asked = askedBy(policies.filter(({ enforces }) => enforces));
    const others = own.filter((row) => row.asked !== asked);
    for (const subject of new Set(others.map((row) => row.subject))) await checkDocuments(call, repo, subject);
  }
}

async function judgeAgain(call: Call, repo: string, subject: string): Promise<void> {
  await call.tx
    .updateTable("attachments")
    .set({ recheck_time: null })
    .where("repo", "=", repo)
    .where("subject", "=", subject)
    .where("recheck_time", "is not", null)
    .execute();
  await checkDocuments(call, repo, subject);
}

async function dueOf(tx: Database, nowMs: number, most: number): Promise<{ repo: string; subject: string }[]> {
  return await select(
    tx,
    `select distinct repo, subject from attachments where recheck_time is not null and recheck_time <= ? limit ${most}`,
    [nowMs],
  );
}

async function attachedAfter(
  tx: Database,
  after: readonly [repo: string, subject: string],
): Promise<{ repo: string; subject: string; asked: string }[]> {
  return await select(
    tx,
    `select repo, subject, max(asked) as asked from attachments where until_time is null and (repo, subject) > (?, ?) group by repo, subject order by repo, subject limit ${PAGE}`,
    after,
  );
}

function positionIn(text: string): Position {
  return text === "" ? [0, "", ""] : (JSON.parse(text) as Position);
}
