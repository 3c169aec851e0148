import { countedBelow } from "../aip/resource.ts";
import type { Area } from "../core/area.ts";
import { resealSubscriptions } from "./subscriptions/secrets.ts";
import { EVENT_TABLES } from "./tables.ts";

export const eventsArea: Area = {
  name: "events",
  tables: EVENT_TABLES,
  below: { group: { hindrances: countedBelow({ subscriptions: "subscriptions" }) } },
  reseal: resealSubscriptions,
};
