import { statement } from "@moorage/kernel/store";
import { mirrorCall } from "./context.ts";
import type { CopyJob } from "./copy-job.ts";
import type { CopyLog } from "./copy-log.ts";
import { copyManifest } from "./copy.ts";

const PAGE = 500;
const selectMissing = statement<{ digest: string }>(
  `select distinct h.digest from tag_history as h
   where h.repo = ? and h.digest > ? and h.reason = 'import'
     and not exists (select 1 from manifests as m where m.repo = h.repo and m.digest = h.digest)
   order by h.digest limit ${PAGE}`,
);

/**
 * Copies what tags pointed to by imported moves and the repo lacks. What the source no longer has is noted, and is no
 * failure. Returns false when `pause` was aborted before the last: the rest is for another run.
 */
export async function copyHistory(job: CopyJob, log: CopyLog, pause: AbortSignal): Promise<boolean> {
  const { deps, place, upstream, signal } = job;
  for (let after: string | undefined = ""; after !== undefined;) {
    const from: string = after;
    const rows: { digest: string }[] = await deps.transactor.read(mirrorCall(deps), (call) =>
      selectMissing(call.tx, place.repo, from),
    );
    for (const { digest } of rows) {
      if (pause.aborted) return false;
      await log.copy(digest, "", async () => {
        const stored = await upstream.manifest(digest, signal);
        if (stored === undefined) log.lost(digest);
        else await copyManifest(job, stored);
      });
    }
    after = rows.length < PAGE ? undefined : rows.at(-1)?.digest;
  }
  return true;
}
