import type { Subscription } from "@moorage/api/messages";
import { SubscriptionSchema } from "@moorage/api/messages";
import { violationsOf } from "@moorage/kernel/aip/validate";
import { isUid } from "@moorage/kernel/lib/uid";
import type { FieldViolation } from "@moorage/kernel/errors";

/** The event filters of a subscription or a request. */
type Prefixes = Pick<Subscription, "typePrefixes" | "subjectPrefixes">;

const MAX_PREFIX_CHARS = 256;
const TYPE_PREFIX = /^[A-Za-z0-9_.-]+$/;

/** All violations of a new subscription that can be found without resolving its sink. */
export function subscriptionViolations(subscription: Subscription, eventsPrefix: string): FieldViolation[] {
  const found = violationsOf(SubscriptionSchema, subscription);
  if (!found.some(({ field }) => field === "sink")) found.push(...sinkViolations(subscription.sink));
  found.push(...prefixViolations(subscription, eventsPrefix));
  // Only the first violation of each field is reported.
  return found.filter(({ field }, at) => found.findIndex((other) => other.field === field) === at);
}

/** The violations of event filters. */
export function prefixViolations({ typePrefixes, subjectPrefixes }: Prefixes, eventsPrefix: string): FieldViolation[] {
  return [
    ...typePrefixes.flatMap((prefix, at) => wrong(`typePrefixes[${at}]`, typeFault(prefix, eventsPrefix))),
    ...subjectPrefixes.flatMap((prefix, at) =>
      wrong(`subjectPrefixes[${at}]`, isSubject(prefix) ? undefined : "must be a uid"),
    ),
  ];
}

function wrong(field: string, description: string | undefined): FieldViolation[] {
  return description === undefined ? [] : [{ field, description }];
}

function sinkViolations(sink: string): FieldViolation[] {
  const url = URL.parse(sink);
  if (url === null || !/^https?:$/.test(url.protocol)) return wrong("sink", "must be an http or https URL");
  if (url.username !== "" || url.password !== "") return wrong("sink", "must not hold a user name or password");
  // `URL` does not show an empty fragment.
  return wrong("sink", sink.includes("#") ? "must not hold a fragment" : undefined);
}

/** Why the prefix is not valid, also if no type of this installation can begin with it. */
function typeFault(prefix: string, eventsPrefix: string): string | undefined {
  if (prefix.length > MAX_PREFIX_CHARS) return `must have at most ${MAX_PREFIX_CHARS} characters`;
  if (!TYPE_PREFIX.test(prefix))
    return "must be the beginning of an event's type: letters, digits, dots, dashes and underscores";
  const all = `${eventsPrefix}.`;
  return prefix.startsWith(all) || all.startsWith(prefix)
    ? undefined
    : `must begin with ${all} as the types of events do here`;
}

function isSubject(prefix: string): boolean {
  return prefix.length <= MAX_PREFIX_CHARS && isUid(prefix);
}
