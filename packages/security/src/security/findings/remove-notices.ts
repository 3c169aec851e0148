import { setTimeout as wait } from "node:timers/promises";
import type { Call, CallData } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import type { Transactor } from "@moorage/kernel/core/transactor";
import { select } from "@moorage/kernel/store";
import { CATALOGING } from "../catalog/command-options.ts";

const PAGE = 500;
const PAUSE_MS = 20;

/** The last image of a page. */
type NoticePage = readonly [repo: string, digest: string];

/** Goes over a page of notices: those of images that their repo does not have any longer go. */
export const removeNotices = command(
  "security.removeNotices",
  async ({ tx }: Call, { after }: { after: NoticePage }): Promise<{ next?: NoticePage }> => {
    const rows = await select<{ repo: string; digest: string; unused: number }>(
      tx,
      `select n.repo, n.digest, case when exists (select 1 from manifests as m where m.repo = n.repo and m.digest = n.digest) then 0 else 1 end as unused
       from finding_notices as n where (n.repo, n.digest) > (?, ?) order by n.repo, n.digest limit ${PAGE}`,
      after,
    );
    for (const { repo, digest } of rows.filter(({ unused }) => unused === 1))
      await tx.deleteFrom("finding_notices").where("repo", "=", repo).where("digest", "=", digest).execute();
    const last = rows.at(-1);
    return rows.length < PAGE || last === undefined ? {} : { next: [last.repo, last.digest] };
  },
  CATALOGING,
);

/**
 * Removes what is noted of the findings of images that are gone. `signal` ends it between two steps, and it rejects
 * then.
 */
export async function removeUnusedNotices(
  { transactor, data }: { transactor: Transactor; data: CallData },
  signal: AbortSignal,
): Promise<void> {
  for (let page: NoticePage | undefined = ["", ""]; page !== undefined;) {
    signal.throwIfAborted();
    const removed: { next?: NoticePage } = await transactor.write(removeNotices, data, { after: page });
    page = removed.next;
    await wait(PAUSE_MS);
  }
}
