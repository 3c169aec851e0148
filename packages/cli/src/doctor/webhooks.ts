import type { JsonObject, RestClient } from "../api/rest.ts";
import { type Check, failed, notChecked, ok, warning } from "./check.ts";
import { firstOf, MAX_ITEMS } from "./pages.ts";

const NAME = "webhooks";
const FIX = "mend the receiver; docs/events.md says what it should answer";
const DAY_MS = 86_400_000;

/** Subscriptions that get no events, and those whose deliveries fail, of the organizations that the caller may list. */
export async function examineWebhooks(rest: RestClient): Promise<Check[]> {
  const { items, isCut } = await firstOf(rest, "/events/v2/subscriptions", "subscriptions");
  const names = new Map(items.map((each) => [String(each["uid"]), nameOf(each)]));
  const stopped = items.map(examineState).filter((check) => check !== undefined);
  const failing = await Promise.all([
    deliveries(rest, names, "RETRYING", "failed and are attempted again"),
    deliveries(rest, names, "DEAD", "failed for good in the last day"),
  ]);
  const left = isCut ? [notChecked(NAME, `only the first ${MAX_ITEMS} subscriptions were looked at`)] : [];
  const found = [...stopped, ...failing.flat()];
  const all = `${items.length} subscriptions of groups that you may list`;
  return [...found, ...left, ...(found.length > 0 ? [] : [ok(NAME, `${all}, none of them stopped or failing`)])];
}

function examineState(each: JsonObject): Check | undefined {
  const reason = String(each["stateReason"] || "no reason is given").slice(0, 300);
  switch (each["state"]) {
    case "SUBSCRIPTION_STATE_ACTIVE":
      return undefined;
    case "SUBSCRIPTION_STATE_DISABLED":
      return failed(
        NAME,
        `${nameOf(each)} gets no events: it is disabled, ${reason}`,
        `${FIX}; then moorage subscriptions resume ${String(each["uid"])}`,
      );
    case "SUBSCRIPTION_STATE_PAUSED":
      return warning(
        NAME,
        `${nameOf(each)} gets no events: somebody paused it`,
        `moorage subscriptions resume ${String(each["uid"])}`,
      );
    default:
      return notChecked(
        NAME,
        `${nameOf(each)} is in a state that this command does not know: ${String(each["state"])}`,
      );
  }
}

/** For each subscription how many of its deliveries are in the state, and what the sink last answered. */
async function deliveries(
  rest: RestClient,
  names: ReadonlyMap<string, string>,
  state: "RETRYING" | "DEAD",
  words: string,
): Promise<Check[]> {
  const since = state === "DEAD" ? { start_time: new Date(Date.now() - DAY_MS).toISOString() } : {};
  const query = { state: `DELIVERY_STATE_${state}`, ...since };
  const { items, isCut } = await firstOf(rest, "/events/v2/deliveries", "deliveries", query);
  const bySubscription = Map.groupBy(items, ({ uid }) => String(uid).split("/").slice(0, -1).join("/"));
  const checks = [...bySubscription].map(([subscription, each]) => {
    const [newest] = each;
    const status = Number(newest?.["lastStatus"] ?? 0);
    const answer = String(newest?.["lastError"] || (status === 0 ? "no answer" : `status ${status}`)).slice(0, 300);
    const name = names.get(subscription) ?? `subscription ${subscription}`;
    return failed(NAME, `${name}: ${each.length} deliveries ${words}; the last one: ${answer}`, FIX);
  });
  return isCut
    ? [...checks, notChecked(NAME, `only the newest ${MAX_ITEMS} deliveries that ${words} were looked at`)]
    : checks;
}

/** The subscription and where its events go, without a path, which may be secret. */
function nameOf(each: JsonObject): string {
  const origin = URL.parse(String(each["sink"]))?.origin ?? "an unreadable address";
  return `subscription ${String(each["uid"])} to ${origin}`;
}
