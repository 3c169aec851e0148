import { create, type MessageShape } from "@bufbuild/protobuf";
import {
  AdvisoriesService,
  AdvisoryEventSchema,
  AdvisorySchema,
  Capability,
  ListAdvisoriesRequestSchema,
} from "@moorage/api/messages";
import { sql } from "kysely";
import { columnIs, listOf, listPage } from "../../aip/list.ts";
import { sortable } from "../../aip/order.ts";
import { validate } from "../../aip/validate.ts";
import type { Call } from "../../core/call.ts";
import type { Service, ServiceContext } from "../../core/service.ts";
import { groups } from "../../iam/index.ts";
import { organizationOf } from "../../lib/uid.ts";
import type { Row } from "../../store/index.ts";
import { checkAliases, checkNew, checkNewEvent } from "./check.ts";
import { noteDecision } from "./decisions.ts";
import { addEvents, changeEvent, eventsByAdvisory, eventsOf } from "./events.ts";
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
});

/** Advisories of groups: docs/security-data.md. */
export function advisoriesService({ pageTokenKey }: ServiceContext): Service<typeof AdvisoriesService> {
  return {
    getAdvisory: async (call, { uid }) => answerOf(call, await getAdvisory(call.tx, uid)),
    async listAdvisories(call, request) {
      validate(ListAdvisoriesRequestSchema, request);
      const visible = await call.visible(Capability.CAP_ADVISORIES_LIST);
      const organizations = [...new Set(visible.map(organizationOf))];
      const page = await listPage(call, pageTokenKey, LIST, request, {
        filters: (inForce) => filtersOf(call, inForce, organizations),
        foundBy,
      });
      const events = await eventsByAdvisory(
        call.tx,
        page.rows.map(({ uid }) => uid),
        call,
      );
      const found = page.rows.map((row) => withEvents(row, events.get(row.uid) ?? []));
      return { ...page, advisories: found };
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

async function answerOf(call: Call, row: Row<"advisories">): Promise<MessageShape<typeof AdvisorySchema>> {
  return withEvents(row, await eventsOf(call, row.uid));
}

function withEvents(
  row: Row<"advisories">,
  events: MessageShape<typeof AdvisoryEventSchema>[],
): MessageShape<typeof AdvisorySchema> {
  return Object.assign(advisories.toMessage(row), { events });
}
