import { countedBelow } from "@moorage/kernel/aip/resource";
import type { Area } from "@moorage/kernel/core/area";
import { resealSubscriptions } from "./subscriptions/secrets.ts";
import { EVENT_TABLES } from "./tables.ts";

export const eventsArea: Area = {
  name: "events",
  tables: EVENT_TABLES,
  below: { group: { hindrances: countedBelow({ subscriptions: "subscriptions" }) } },
  reseal: resealSubscriptions,
};
