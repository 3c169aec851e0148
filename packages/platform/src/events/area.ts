import { EventsService, SubscriptionsService, DeliveriesService } from "@moorage/api/messages";
import { countedBelow } from "@moorage/kernel/aip/resource";
import type { Area } from "@moorage/kernel/core/area";
import { served } from "@moorage/kernel/core/service";
import { eventCommands } from "./commands.ts";
import { deliveriesService } from "./deliveries/service.ts";
import { eventsService } from "./feed/service.ts";
import { resealSubscriptions } from "./subscriptions/secrets.ts";
import { subscriptionsService } from "./subscriptions/service.ts";
import { EVENT_TABLES } from "./tables.ts";
import { eventMetrics } from "./metrics.ts";
import { eventJobs } from "./jobs.ts";

export const eventsArea: Area = {
  name: "events",
  tables: EVENT_TABLES,
  below: { group: { hindrances: countedBelow({ subscriptions: "subscriptions" }) } },
  reseal: resealSubscriptions,
  services: [
    served(EventsService, eventsService),
    served(SubscriptionsService, subscriptionsService),
    served(DeliveriesService, deliveriesService),
  ],
  commands: eventCommands,
  jobs: eventJobs,
  metrics: [eventMetrics],
};
