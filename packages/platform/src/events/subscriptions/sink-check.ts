import type { LookupFunction } from "node:net";
import { create } from "@bufbuild/protobuf";
import { type CreateSubscriptionRequest, SubscriptionSchema } from "@moorage/api/messages";
import type { Config } from "@moorage/kernel/config";
import { checkedLookup, checkedUrl, FetchError } from "@moorage/kernel/lib/guarded-fetch";
import { createSemaphores } from "@moorage/kernel/lib/semaphore";
import { organizationOf } from "@moorage/kernel/lib/uid";
import { invalidArgument } from "@moorage/kernel/errors";
import { subscriptionViolations } from "./fields.ts";

export interface SinkRules extends Pick<Config, "allowPrivateNetwork" | "eventsPrefix"> {
  /** The name servers; with none, those of the operating system. */
  dnsServers?: readonly string[];
  /** The time for resolving a name, in milliseconds. Defaults to 5 seconds. */
  timeoutMs?: number;
  /** Defaults to the look-up of the guarded fetch. */
  lookup?: LookupFunction;
}

export type SinkCheck = (request: CreateSubscriptionRequest) => Promise<void>;

const TIMEOUT_MS = 5_000;
// Of the subscriptions of one organization.
const LOOKUP_CONCURRENCY = 2;

/**
 * Creates the check of the sink of a new subscription. The sink must be https, and its name must resolve to public
 * addresses only. If that cannot be found out now, the sink passes, because it is checked again on every delivery. If
 * private addresses are allowed, nothing is looked up. The check throws INVALID_ARGUMENT with all violations of the
 * subscription, not only those of the sink.
 */
export function createSinkCheck({
  allowPrivateNetwork,
  eventsPrefix,
  dnsServers = [],
  timeoutMs = TIMEOUT_MS,
  lookup,
}: SinkRules): SinkCheck {
  const resolve = lookup ?? checkedLookup({ allowPrivateNetwork, dnsServers });
  const semaphores = createSemaphores(LOOKUP_CONCURRENCY);

  /**
   * Looks a name up when fewer than two of the organization's are being looked up. Null when it may be used. Undefined
   * when the result is not known in time.
   */
  const lookUp = async (organization: string, name: string): Promise<Error | null | undefined> => {
    const { promise: late, resolve: giveUp } = Promise.withResolvers<undefined>();
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      giveUp(undefined);
    }, timeoutMs);
    const found = semaphores(organization, async () =>
      isLate ? undefined : await new Promise<Error | null>((done) => resolve(name, {}, done)),
    );
    const result = await Promise.race([found, late]);
    clearTimeout(timer);
    return result;
  };
  const faultOf = async (organization: string, sink: string): Promise<string | undefined> => {
    if (allowPrivateNetwork) return undefined;
    try {
      const { hostname, protocol } = new URL(sink);
      if (protocol !== "https:") return "must be an https URL";
      checkedUrl(sink, { allowPrivateNetwork });
      return faultIn(await lookUp(organization, hostname.replace(/^\[|\]$/g, "")));
    } catch (error) {
      if (error instanceof FetchError) return faultIn(error);
      throw error;
    }
  };
  return async ({ parent, subscription = create(SubscriptionSchema) }) => {
    const violations = subscriptionViolations(subscription, eventsPrefix);
    const description = violations.some(({ field }) => field === "sink")
      ? undefined
      : await faultOf(organizationOf(parent), subscription.sink);
    if (description !== undefined) violations.push({ field: "sink", description });
    if (violations.length > 0) throw invalidArgument(...violations);
  };
}

function faultIn(error: Error | null | undefined): string | undefined {
  if (error === null || error === undefined) return undefined;
  if (error instanceof FetchError && error.kind === "refused")
    return "must not lead to an address that is not a public one";
  if (error instanceof FetchError) return "must have a name that has an address";
  return "code" in error && error.code === "ENOTFOUND" ? "must have a name that exists" : undefined;
}
