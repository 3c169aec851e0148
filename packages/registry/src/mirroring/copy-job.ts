import type { MirrorPlace } from "./commands.ts";
import type { MirrorDeps } from "./context.ts";
import type { Downloads } from "./downloads.ts";
import type { ReferrerGaps } from "./referrer-gaps.ts";
import type { Upstream } from "./registry-client.ts";

/** A copy job: the source repository and the repo it goes to. */
export interface CopyJob {
  deps: Pick<MirrorDeps, "transactor" | "blobs" | "clock" | "metrics">;
  downloads: Downloads;
  upstream: Upstream;
  place: MirrorPlace;
  signal: AbortSignal;
  gaps: ReferrerGaps;
}
