import { create, type MessageShape } from "@bufbuild/protobuf";
import {
  AdvisoriesService,
  AdvisoryEventSchema,
  AdvisorySchema,
  Capability,
  ListAdvisoriesRequestSchema,
} from "@moorage/api/messages";
import { sql } from "kysely";
import { columnIs, listFound, listOf, listPage } from "@moorage/kernel/aip/list";
import { sortable } from "@moorage/kernel/aip/order";
import { fitting, MAX_PAGE_BYTES } from "@moorage/kernel/aip/page-bytes";
import { type FoundPage, type PageQuery, queryPage } from "@moorage/kernel/aip/page-query";
import { validate } from "@moorage/kernel/aip/validate";
import type { Call } from "@moorage/kernel/core/call";
import type { Service, ServiceContext } from "@moorage/kernel/core/service";
import { groups } from "@moorage/platform/iam";
import { organizationOf } from "@moorage/kernel/lib/uid";
import type { Database, Row } from "@moorage/kernel/store";
import { checkAliases, checkNew, checkNewEvent } from "./check.ts";
import { noteDecision } from "./decisions.ts";
import { addEvents, bytesOfEvents, changeEvent, eventsByAdvisory, eventsOf } from "./events.ts";
import { filtersOf, foundBy } from "./filters.ts";
import { hiddenFrom } from "./location-changes.ts";
import { removeLookups, writeLookups } from "./lookups.ts";
import { advisories, advisoryColumns, eventOf, getAdvisory, newAdvisoryId } from "./rows.ts";

const LIST = listOf({
  method: AdvisoriesService.method.listAdvisories,
  table: "advisories",
  defaultOrder: "createTime",
  orderBy: sortable(
    "advisory_id",
    "artifact_name",
    "component_name",
    "aliases",
    "author",
    "create_time",
    "update_time",
    "uid",
  ),
});
const LIST_EVENTS = listOf({
  method: AdvisoriesService.method.listAdvisoryEvents,
  table: "advisory_events",
  defaultOrder: "createTime",
  orderBy: sortable("create_time"),
  large: ["content", "issue", "findings"],
});

/** Advisories of groups: docs/advisories.md. */
export function advisoriesService({ pageTokenKey }: ServiceContext): Service<typeof AdvisoriesService> {
  return {
    getAdvisory: async (call, { uid }) => answerOf(call, await getAdvisory(call.tx, uid)),
    async listAdvisories(call, request) {
      validate(ListAdvisoriesRequestSchema, request);
      const visible = await call.visible(Capability.CAP_ADVISORIES_LIST);
      const organizations = [...new Set(visible.map(organizationOf))];
      const { rows, ...page } = await listFound(
        call,
        pageTokenKey,
        LIST,
        request,
        { filters: (inForce) => filtersOf(call, inForce, organizations), foundBy },
        (query) => queryWithEvents(call.tx, query),
        (row, column) => (row as Record<string, unknown>)[column],
      );
      const events = await eventsByAdvisory(
        call.tx,
        rows.map(({ uid }) => uid),
        call,
      );
      return { ...page, advisories: rows.map((row) => withEvents(row, events.get(row.uid) ?? [])) };
    },
    async createAdvisory(call, { parent, advisory = create(AdvisorySchema) }) {
      checkNew(call, advisory);
      await groups.get(call.tx, parent);
      const row = await advisories.insert(call, parent, {
        ...advisoryColumns(advisory),
        advisory_id: await newAdvisoryId(call.tx),
        author: call.caller.identity,
        latest_type: 0,
        create_time: call.nowMs,
        update_time: call.nowMs,
        delete_time: null,
      });
      await writeLookups(call, row);
      return withEvents(row, await addEvents(call, row.uid, advisory.events));
    },
    async updateAdvisory(call, { advisory = create(AdvisorySchema), updateMask }) {
      const { uid } = await getAdvisory(call.tx, advisory.uid);
      await advisories.patch(call, uid, advisory, updateMask, async (before, after) => {
        checkAliases(after);
        await writeLookups(call, { ...before, ...advisoryColumns(after) });
      });
      await noteDecision(call, uid);
      return await answerOf(call, await getAdvisory(call.tx, uid));
    },
    async deleteAdvisory(call, { uid }) {
      await getAdvisory(call.tx, uid);
      await removeLookups(call, uid);
      const changes = { delete_time: call.nowMs, update_time: call.nowMs };
      await call.tx.updateTable("advisories").set(changes).where("uid", "=", uid).execute();
      await noteDecision(call, uid);
      return {};
    },
    async createAdvisoryEvent(call, { parent, advisoryEvent = create(AdvisoryEventSchema) }) {
      checkNewEvent(call, advisoryEvent);
      await getAdvisory(call.tx, parent);
      const [added = create(AdvisoryEventSchema)] = await addEvents(call, parent, [advisoryEvent]);
      return added;
    },
    async listAdvisoryEvents(call, request) {
      await getAdvisory(call.tx, request.parent);
      const page = await listPage(call, pageTokenKey, LIST_EVENTS, request, {
        filters: ({ parent }) => [columnIs("parent", parent), sql`t.type not in (${sql.join(hiddenFrom(call))})`],
      });
      return { ...page, advisoryEvents: page.rows.map(eventOf) };
    },
    updateAdvisoryEvent: (call, { advisoryEvent = create(AdvisoryEventSchema), updateMask }) =>
      changeEvent(call, advisoryEvent, updateMask),
  };
}

/** A page that ends early where its advisories are too large together, with their events. */
async function queryWithEvents(db: Database, query: PageQuery): Promise<FoundPage<Row<"advisories">>> {
  const { rows, ...found } = await queryPage(db, "advisories", query);
  const whole = rows as unknown as Row<"advisories">[];
  const bytes = await bytesOfEvents(
    db,
    whole.map(({ uid }) => uid),
    MAX_PAGE_BYTES,
  );
  const kept = fitting(whole, ({ uid }) => bytes.get(uid) ?? 0);
  return { ...found, rows: kept, ...(kept.length < whole.length && { isCut: true }) };
}

async function answerOf(call: Call, row: Row<"advisories">): Promise<MessageShape<typeof AdvisorySchema>> {
  return withEvents(row, await eventsOf(call, row.uid));
}

function withEvents(
  row: Row<"advisories">,
  events: MessageShape<typeof AdvisoryEventSchema>[],
): MessageShape<typeof AdvisorySchema> {
  return Object.assign(advisories.toMessage(row), { events });
}
