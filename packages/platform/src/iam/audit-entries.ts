import {
  AuditDecision,
  AuditEntrySchema,
  AuditEntriesService,
  type ListAuditEntriesRequest,
} from "@moorage/api/messages";
import { sql } from "kysely";
import { rejectUnlistable } from "@moorage/kernel/aip/access";
import { columnIsIfSet, listFound, listOf } from "@moorage/kernel/aip/list";
import { sortable } from "@moorage/kernel/aip/order";
import type { Condition } from "@moorage/kernel/aip/scope";
import { timeViolations } from "@moorage/kernel/aip/times";
import { layoutOf } from "@moorage/kernel/core/stored-answer";
import { milliseconds } from "@moorage/kernel/lib/timestamps";
import { isUid, isWithin } from "@moorage/kernel/lib/uid";
import type { Call } from "@moorage/kernel/core/call";
import { invalidArgument } from "@moorage/kernel/errors";
import type { Service, ServiceContext } from "@moorage/kernel/core/service";
import { type AuditQuery, MAX_COUNTED, queryAudit } from "./audit-query.ts";

const LIST = listOf({
  method: AuditEntriesService.method.listAuditEntries,
  table: "audit_entries",
  defaultOrder: "createTime desc",
  orderBy: sortable("create_time"),
});
const LAYOUT = layoutOf(AuditEntrySchema);

export function auditEntriesService({
  pageTokenKey,
  admins = [],
}: ServiceContext): Service<typeof AuditEntriesService> {
  return {
    async listAuditEntries(call, request) {
      const violations = timeViolations({ since: request.since, until: request.until });
      if (violations.length > 0) throw invalidArgument(...violations);
      await rejectUnlisted(call, admins, request);
      let scoped: Omit<AuditQuery, "page"> | undefined;
      const page = await listFound(
        call,
        pageTokenKey,
        LIST,
        request,
        {
          scope(scope, inForce) {
            scoped = {
              roots: rootsOf(scope.roots, inForce),
              seesRest: seesRest(call, admins, inForce),
              hasIdentity: inForce.identity !== "",
            };
            return scope;
          },
          filters,
        },
        (query) =>
          queryAudit(call.tx, { ...(scoped ?? { roots: [], seesRest: false, hasIdentity: false }), page: query }),
        (row, column) => row[column],
      );
      const { totalCount, rows, ...rest } = page;
      return {
        ...rest,
        ...(totalCount <= MAX_COUNTED && { totalCount }),
        auditEntries: rows.map((row) => LAYOUT.ofRow({ ...row, resource: row["parent"] })),
      };
    },
  };
}

/**
 * Administrators, with a token that is not narrowed, see the entries of no organization, such as rejections of
 * unauthenticated callers.
 */
function seesRest(
  { caller: { identity, capabilities, scopes } }: Call,
  admins: readonly string[],
  { uidp }: ListAuditEntriesRequest,
): boolean {
  return (
    admins.includes(identity) &&
    capabilities === undefined &&
    scopes === undefined &&
    (uidp?.descendantsOf ?? "") === ""
  );
}

/** A list about one resource is refused to callers that see its group and may not read any entry below it. */
async function rejectUnlisted(call: Call, admins: readonly string[], request: ListAuditEntriesRequest): Promise<void> {
  const { resource, uidp } = request;
  const about = resource || uidp?.childrenOf || uidp?.descendantsOf || "";
  if (about === "" || !isUid(about) || seesRest(call, admins, request)) return;
  const visible = await call.visible(...LIST.needs);
  if (visible.some((group) => isWithin(group, about))) return;
  await rejectUnlistable(call, LIST.needs, about);
}

/** An entry is stored below its resource. */
function rootsOf(roots: string[], { resource }: ListAuditEntriesRequest): string[] {
  if (resource === "") return roots;
  return isUid(resource) && roots.some((root) => isWithin(resource, root)) ? [resource] : [];
}

function filters({ identity, method, decision, resource, since, until }: ListAuditEntriesRequest): Condition[] {
  return [
    ...columnIsIfSet("identity", identity),
    ...columnIsIfSet("method", method),
    // A literal: a partial index is used only if the statement itself shows that its condition holds.
    ...(decision === AuditDecision.UNSPECIFIED ? [] : [sql`t.decision = ${sql.lit(Number(decision))}`]),
    ...columnIsIfSet("parent", resource),
    ...(since === undefined ? [] : [sql`t.create_time >= ${milliseconds(since)}`]),
    ...(until === undefined ? [] : [sql`t.create_time < ${milliseconds(until)}`]),
  ];
}
