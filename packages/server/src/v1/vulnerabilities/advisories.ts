import {
  AdvisoriesService,
  AdvisorySchema as V2Advisory,
  ListAdvisoriesRequestSchema,
  ReviewState,
} from "@moorage/api/messages";
import { Advisories, AdvisoryFilterSchema, AdvisorySchema, OrderBy } from "@moorage/api/v1/vulnerabilities";
import type { Method } from "../../runtime/methods.ts";
import { type Converted, mapping, nested, sameNumbers, V1_ONLY } from "../mapping.ts";
import { translated } from "../service.ts";
import { pageSizeOf, withId } from "../v2.ts";
import { event } from "./events.ts";

const advisory = mapping(AdvisorySchema, V2Advisory, {
  id: "uid",
  artifactType: "artifactType",
  artifactName: "artifactName",
  artifactArchitecture: "artifactArchitecture",
  componentName: "componentName",
  componentLocation: "componentLocation",
  componentType: "componentType",
  createdAt: "createTime",
  updatedAt: "updateTime",
  deletedAt: "deleteTime",
  aliases: "aliases",
  events: nested("events", event),
  advisoryId: "advisoryId",
  author: "author",
  legacyAdvisoryID: "legacyAdvisoryId",
});

// Lists have no deleted advisories: in the order of the times of their deletion all are equal.
const ORDERS: ReadonlyMap<number, string> = new Map([
  [OrderBy.ID_ASC, "uid"],
  [OrderBy.ID_DESC, "uid desc"],
  [OrderBy.CREATED_AT_ASC, "create_time"],
  [OrderBy.CREATED_AT_DESC, "create_time desc"],
  [OrderBy.ALIASES_ASC, "aliases"],
  [OrderBy.ALIASES_DESC, "aliases desc"],
  [OrderBy.UPDATED_AT_ASC, "update_time"],
  [OrderBy.UPDATED_AT_DESC, "update_time desc"],
  [OrderBy.DELETED_AT_ASC, "uid"],
  [OrderBy.DELETED_AT_DESC, "uid desc"],
]);

const orderBy: Converted<"orderBy"> = {
  field: "orderBy",
  toV1: (value) => [...ORDERS].find(([, order]) => order === value)?.[0] ?? OrderBy.ORDER_BY_UNSPECIFIED,
  toV2: (value) => ORDERS.get(value as number) ?? "",
};

/** The filter is v2's request; the id stands beside its filter by uids. */
const filter = mapping(AdvisoryFilterSchema, ListAdvisoriesRequestSchema, {
  advisoryIds: "advisoryIds",
  legacyAdvisoryIds: "legacyAdvisoryIds",
  id: V1_ONLY,
  uidp: "uidp",
  artifactType: "artifactTypes",
  artifactName: "artifactNames",
  componentName: "componentNames",
  componentType: "componentTypes",
  componentLocation: "componentLocations",
  aliases: "aliases",
  artifactArchitecture: "artifactArchitectures",
  // The violations of both versions name these two as the query does.
  pageToken: V1_ONLY,
  pageSize: V1_ONLY,
  eventStatuses: sameNumbers("eventReviewStates"),
  eventAuthor: "eventAuthors",
  eventReviewer: "eventReviewers",
  eventTypes: sameNumbers("eventTypes"),
  orderBy,
  excludeEventAuthor: "excludeEventAuthors",
  latestEventType: sameNumbers("latestEventType"),
  origin: "origin",
});

const {
  createAdvisory,
  createAdvisoryEvent,
  deleteAdvisory,
  listAdvisories,
  listAdvisoryEvents,
  updateAdvisory,
  updateAdvisoryEvent,
} = AdvisoriesService.method;

/**
 * moorage.vulnerabilities.v1.Advisories. Its list has pages, as v2's has. An event that is replaced without a status
 * waits for its review, as a new one does.
 */
export const advisories: [string, Method][] = translated(Advisories, [advisory, event, filter], {
  create: async (v2, { parentId: parent, advisory: given }) =>
    advisory.toV1(await v2.answer(createAdvisory, { parent, ...(given && { advisory: advisory.toV2(given) }) })),
  async list(v2, request) {
    const { id, uidp, pageSize, pageToken } = request;
    const paging = { pageSize: pageSizeOf(pageSize), pageToken };
    const asked = { ...filter.toV2(request), uidp: withId(uidp, id), ...paging };
    const { advisories: page, nextPageToken, totalCount } = await v2.answer(listAdvisories, asked);
    return { id, items: page.map(advisory.toV1), nextPageToken, totalCount: totalCount ?? 0n };
  },
  update: async (v2, given) =>
    advisory.toV1(await v2.answer(updateAdvisory, { advisory: advisory.toV2(given), updateMask: advisory.mask })),
  delete: (v2, { id: uid }) => v2.answer(deleteAdvisory, { uid }),
  createAdvisoryEvent: async (v2, { parentId: parent, advisoryEvent: given }) =>
    event.toV1(await v2.answer(createAdvisoryEvent, { parent, ...(given && { advisoryEvent: event.toV2(given) }) })),
  async listAdvisoryEvents(v2, { parentId }) {
    const items = [];
    for await (const page of v2.pages(listAdvisoryEvents, { parent: parentId }))
      items.push(...page.advisoryEvents.map(event.toV1));
    return { parentId, items };
  },
  async updateAdvisoryEvent(v2, given) {
    const advisoryEvent = event.toV2(given);
    if (advisoryEvent.reviewState === ReviewState.UNSPECIFIED) advisoryEvent.reviewState = ReviewState.PENDING;
    return event.toV1(await v2.answer(updateAdvisoryEvent, { advisoryEvent, updateMask: event.mask }));
  },
});
