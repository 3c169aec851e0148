import {
  listAdvisories,
  type ReviewState,
  type EventTypeFilter,
  getAdvisory,
} from "../../../api/gen/vulnerabilities.ts";
import { listQuery, query } from "../../../api/queries.ts";
import { REVIEW_WORDS, EVENT_WORDS } from "../words.ts";

const PAGE_SIZE = 100;

/** The filters of the list of advisories. */
export type AdvisoriesSearch = Partial<Record<"group" | "review" | "latest" | "query" | "order", string>>;

/** The advisories that fit. `review`: `all`, or the state that one of the events has; PENDING without it. */
export function advisoriesQuery({ group, review = "PENDING", latest = "", query: text, order }: AdvisoriesSearch) {
  return listQuery(listAdvisories, {
    ...(group !== undefined && { uidp: { descendantsOf: group } }),
    ...(Object.hasOwn(REVIEW_WORDS, review) && { eventReviewStates: [`REVIEW_STATE_${review}` as ReviewState] }),
    ...(Object.hasOwn(EVENT_WORDS, latest) && { latestEventType: `EVENT_TYPE_FILTER_${latest}` as EventTypeFilter }),
    ...(text !== undefined && { query: text }),
    orderBy: order ?? "updateTime desc",
    pageSize: PAGE_SIZE,
  });
}

/** An advisory with its events. */
export function advisoryQuery(uid: string) {
  return query(getAdvisory, { uid });
}
