import {
  ListDocumentsRequestSchema,
  ListVulnerabilityMetadataRequestSchema,
  SecurityAdvisoryService,
  type UIDPFilter,
} from "@moorage/api/messages";
import { listFound, listOf, type PageOf } from "@moorage/kernel/aip/list";
import type { Scope } from "@moorage/kernel/aip/scope";
import { validate } from "@moorage/kernel/aip/validate";
import type { Call } from "@moorage/kernel/core/call";
import type { Service, ServiceContext } from "@moorage/kernel/core/service";
import { unauthenticated } from "@moorage/kernel/errors";
import { staleMessage } from "../coverage/messages.ts";
import { staleFeeds } from "../coverage/stale-feeds.ts";
import { listResolved } from "../resolved/list.ts";
import { type DocumentRow, documentsOf, queryDocuments } from "../vulnerabilities/documents.ts";
import { feedsOf } from "../vulnerabilities/join.ts";
import { inScope, MAX_COUNTED } from "../vulnerabilities/key-pages.ts";
import { metadataOf, type MetadataRow, queryMetadata } from "../vulnerabilities/metadata.ts";

const DOCUMENTS = listOf({
  method: SecurityAdvisoryService.method.listDocuments,
  table: "advisories",
  defaultOrder: "id",
  orderBy: { id: "uid" },
});
const METADATA = listOf({
  method: SecurityAdvisoryService.method.listVulnerabilityMetadata,
  table: "advisories",
  defaultOrder: "id",
  orderBy: { id: "uid" },
});

/** Throws UNAUTHENTICATED for a caller without a token, unless the feeds are for everybody. */
export function requireFeedReader({ caller }: Pick<Call, "caller">, publicAdvisories: boolean): void {
  if (caller.identity === "" && !publicAdvisories) throw unauthenticated("a token is required");
}

/** What is known about vulnerabilities and packages: docs/security-data.md, "What is known". */
export function securityAdvisoryService({
  pageTokenKey,
  publicAdvisories = false,
}: ServiceContext): Service<typeof SecurityAdvisoryService> {
  const requireReader = (call: Call): void => requireFeedReader(call, publicAdvisories);
  return {
    async listDocuments(call, request) {
      requireReader(call);
      validate(ListDocumentsRequestSchema, request);
      const inForce = follow<typeof request>();
      const page = await listFound(
        call,
        pageTokenKey,
        DOCUMENTS,
        request,
        inForce.options,
        (query) =>
          queryDocuments(call.tx, { request: inForce.request(), hasFeeds: hasFeeds(inForce.request()) }, query),
        ({ uid }: DocumentRow) => uid,
      );
      return {
        ...counted(page),
        documents: await documentsOf(call, page.rows),
        ...(hasFeeds(inForce.request()) && { staleFeeds: await staleOf(call) }),
      };
    },
    async listVulnerabilityMetadata(call, request) {
      requireReader(call);
      validate(ListVulnerabilityMetadataRequestSchema, request);
      const feeds = await feedsOf(call.tx);
      const inForce = follow<typeof request>();
      const page = await listFound(
        call,
        pageTokenKey,
        METADATA,
        request,
        inForce.options,
        (query) =>
          queryMetadata(call.tx, { request: inForce.request(), hasFeeds: hasFeeds(inForce.request()), feeds }, query),
        ({ uid }: MetadataRow) => uid,
      );
      const answers = await metadataOf(call, page.rows, inScope(inForce.scope()));
      return { ...counted(page), vulnerabilityMetadata: answers, staleFeeds: await staleOf(call) };
    },
    listResolvedVulnsReports: (call, request) => listResolved(call, pageTokenKey, request),
  };
}

/** The feeds of vulnerabilities that are older than their own interval. */
async function staleOf({ tx, nowMs }: Call): Promise<ReturnType<typeof staleMessage>[]> {
  return (await staleFeeds(tx, nowMs, "all findings")).map(staleMessage);
}

/** Remembers which request a list goes by, its own or that of its page token, and where. */
function follow<R>(): {
  options: { scope(scope: Scope, request: R): Scope };
  request(): R;
  scope(): Scope;
} {
  let seen: { request: R; scope: Scope } | undefined;
  const known = (): { request: R; scope: Scope } => {
    if (seen === undefined) throw new Error("the list has no scope yet");
    return seen;
  };
  return {
    options: {
      scope(scope, request) {
        seen = { request, scope };
        return scope;
      },
    },
    request: () => known().request,
    scope: () => known().scope,
  };
}

/** Whether the feeds are asked as well: not where a place in the hierarchy is named. */
function hasFeeds({ uidp }: { uidp?: UIDPFilter }): boolean {
  if (uidp === undefined) return true;
  const { ancestorsOf, descendantsOf, childrenOf, inRoot, ids } = uidp;
  return ancestorsOf === "" && descendantsOf === "" && childrenOf === "" && !inRoot && ids.length === 0;
}

/** The fields of every response; the total is absent when it is not known. */
function counted({ nextPageToken, totalCount, skipped }: PageOf<unknown>): {
  nextPageToken: string;
  totalCount?: bigint;
  skipped: number;
} {
  return { nextPageToken, skipped, ...(totalCount <= BigInt(MAX_COUNTED) && { totalCount }) };
}
