import { AttentionKind, type AttentionService, QuotaState, type UIDPFilter } from "@moorage/api/messages";
import type { Call } from "@moorage/kernel/core/call";
import type { Service } from "@moorage/kernel/core/service";
import { invalidArgument } from "@moorage/kernel/errors";
import { lookAtLibraryUpstreams, lookAtMirrors, lookAtRegistryUpstreams, lookAtReplications } from "./copies.ts";
import { lookAtExploited } from "./exploits.ts";
import type { Looked } from "./look.ts";
import { lookAtDeliveries, lookAtFeeds, lookAtQuotas, lookAtTokens, lookForFeeds } from "./other-looks.ts";

type Look = (call: Call, uidp: UIDPFilter | undefined) => Promise<Looked>;

/** By harm, the worst first. */
const LOOKS: readonly (readonly [AttentionKind, Look])[] = [
  [AttentionKind.EXPLOITED, lookAtExploited],
  [AttentionKind.MIRROR, lookAtMirrors],
  [AttentionKind.REGISTRY_UPSTREAM, lookAtRegistryUpstreams],
  [AttentionKind.LIBRARY_UPSTREAM, lookAtLibraryUpstreams],
  [AttentionKind.REPLICATION, lookAtReplications],
  [AttentionKind.NO_FEEDS, lookForFeeds],
  [AttentionKind.FEED, lookAtFeeds],
  [AttentionKind.DELIVERY, lookAtDeliveries],
  [AttentionKind.TOKEN, lookAtTokens],
  [AttentionKind.QUOTA_EXCEEDED, (call, uidp) => lookAtQuotas(call, uidp, QuotaState.EXCEEDED)],
  [AttentionKind.QUOTA_WARNED, (call, uidp) => lookAtQuotas(call, uidp, QuotaState.WARNED)],
];

/** What somebody should look at first. */
export function attentionService(): Service<typeof AttentionService> {
  return {
    async listAttention(call, { uidp }) {
      if (
        uidp !== undefined &&
        (uidp.ancestorsOf !== "" || uidp.childrenOf !== "" || uidp.inRoot || uidp.ids.length > 0)
      )
        throw invalidArgument({ field: "uidp", description: "only descendants_of is taken here" });
      const attention = [];
      for (const [kind, look] of LOOKS) {
        call.requireCaller();
        attention.push({ kind, ...(await look(call, uidp)) });
      }
      return { attention };
    },
  };
}
