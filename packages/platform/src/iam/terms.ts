import {
  AcceptTermsRequestSchema,
  GroupSchema,
  ListTermsAcceptancesRequestSchema,
  TermsService,
} from "@moorage/api/messages";
import { sql } from "kysely";
import { rejectUnlistable } from "@moorage/kernel/aip/access";
import { listOf, listPage } from "@moorage/kernel/aip/list";
import { sortable } from "@moorage/kernel/aip/order";
import { violationsOf } from "@moorage/kernel/aip/validate";
import { timestamp } from "@moorage/kernel/lib/timestamps";
import { ancestorsOf, isUid, isWithin, newUid } from "@moorage/kernel/lib/uid";
import type { Call } from "@moorage/kernel/core/call";
import { type FieldViolation, invalidArgument, notFound, termsNotAccepted } from "@moorage/kernel/errors";
import type { Service, ServiceContext, TermsDocument } from "@moorage/kernel/core/service";
import { groups } from "./groups.ts";

const LIST = listOf({
  method: TermsService.method.listTermsAcceptances,
  table: "terms_acceptances",
  defaultOrder: "createTime",
  orderBy: { ...sortable("create_time", "doc_id", "accepted_by"), orgUid: "parent" },
});

export function termsService({ pageTokenKey, terms = [] }: ServiceContext): Service<typeof TermsService> {
  return {
    async acceptTerms(call, request) {
      const violations = violationsOf(AcceptTermsRequestSchema, request);
      const unknown = request.documentIds.flatMap((id, at) =>
        terms.some((document) => document.id === id) ? [] : [unknownDocument(id, at)],
      );
      if (violations.length + unknown.length > 0) throw invalidArgument(...violations, ...unknown);
      const { group } = request;
      await groups.get(call.tx, group);
      const documentIds = [...new Set(request.documentIds)];
      const rows = documentIds.map((id) => ({
        uid: newUid(group),
        parent: group,
        doc_id: id,
        accepted_by: call.caller.identity,
        create_time: call.nowMs,
      }));
      await call.tx
        .insertInto("terms_acceptances")
        .values(rows)
        .onConflict((on) => on.columns(["parent", "doc_id"]).doNothing())
        .execute();
      return { group, documentIds };
    },
    async listTermsAcceptances(call, request) {
      const { group } = request;
      const violations = violationsOf(ListTermsAcceptancesRequestSchema, request);
      if (violations.length > 0) throw invalidArgument(...violations);
      if (!isUid(group)) throw notFound(GroupSchema.typeName, group);
      await rejectUnlistable(call, LIST.needs, group);
      // What an ancestor accepted counts for the group: a caller that may see the group's acceptances may see those of
      // its ancestors.
      const places = sql`t.parent in (${sql.join([group, ...ancestorsOf(group)])})`;
      const page = await listPage(call, pageTokenKey, LIST, request, {
        scope({ roots }) {
          const may = roots.some((root) => isWithin(group, root));
          return { roots: [], everywhere: true, conditions: [may ? places : sql`1 = 0`] };
        },
      });
      return {
        ...page,
        termsAcceptances: page.rows.map((row) => ({
          docId: row.doc_id,
          acceptedBy: row.accepted_by,
          orgUid: row.parent,
          createTime: timestamp(row.create_time),
        })),
      };
    },
  };
}

const MAX_SHOWN = 128;

function unknownDocument(id: string, at: number): FieldViolation {
  return { field: `documentIds[${at}]`, description: `there is no document ${JSON.stringify(id.slice(0, MAX_SHOWN))}` };
}

/**
 * Throws FAILED_PRECONDITION with every document that blocks the operation and that neither the groups of the places
 * nor their ancestors have accepted. `what`: a method's full name, or `push`. `places`: uids of groups or of resources
 * in them; a place outside of all groups is not blocked.
 */
export async function requireTerms(
  call: Call,
  documents: readonly TermsDocument[],
  what: string,
  places: readonly string[],
): Promise<void> {
  const blocking = documents.filter(({ blocks }) => blocks.includes(what));
  if (blocking.length === 0) return;
  const missing = new Map<string, TermsDocument>();
  for (const place of new Set(places)) {
    const path = [...ancestorsOf(place), place];
    const [organization = ""] = path;
    if ((await groups.find(call.tx, organization)) === undefined) continue;
    const rows = await call.tx.selectFrom("terms_acceptances").select("doc_id").where("parent", "in", path).execute();
    for (const document of blocking)
      if (!rows.some((row) => row.doc_id === document.id)) missing.set(document.id, document);
  }
  if (missing.size === 0) return;
  throw termsNotAccepted([...missing.values()]);
}
