import type { LookupFunction } from "node:net";
import { create } from "@bufbuild/protobuf";
import { type CreateSubscriptionRequest, SubscriptionSchema } from "@moorage/api";
import type { Config } from "../../config/index.ts";
import { checkedLookup, checkedUrl, FetchError } from "../../lib/guarded-fetch.ts";
import { invalidArgument } from "../../errors.ts";
import { subscriptionViolations } from "./fields.ts";

export interface SinkRules extends Pick<Config, "allowPrivateNetwork" | "eventsPrefix"> {
  /** For finding out where a name leads. Default: 5 seconds. */
  timeoutMs?: number;
  /** Default: as the machine resolves names. */
  lookup?: LookupFunction;
}

export type SinkCheck = (request: CreateSubscriptionRequest) => Promise<void>;

const TIMEOUT_MS = 5_000;
// Names are resolved by a few threads, which read files as well.
const LOOKUPS_AT_ONCE = 2;

/**
 * Makes the check of where a subscription that is to be made would send. The sink must be https, and its name must
 * resolve, to public addresses alone. What cannot be found out now is let pass, for it is looked at again whenever
 * something is sent. Where private addresses are allowed nothing is looked up. The check throws INVALID_ARGUMENT that
 * names all the fields that are wrong, those that have nothing to do with the sink as well.
 */
export function createSinkCheck({
  allowPrivateNetwork,
  eventsPrefix,
  timeoutMs = TIMEOUT_MS,
  lookup,
}: SinkRules): SinkCheck {
  const resolve = lookup ?? checkedLookup({ allowPrivateNetwork });
  const lanes = Array.from({ length: LOOKUPS_AT_ONCE }, (): Promise<unknown> => Promise.resolve());
  let asked = 0;

  /** Looks a name up when it is its turn. Null: it may be asked. Undefined: that was not found out in time. */
  const lookUp = async (name: string): Promise<Error | null | undefined> => {
    const { promise: late, resolve: giveUp } = Promise.withResolvers<undefined>();
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      giveUp(undefined);
    }, timeoutMs);
    const lane = asked++ % lanes.length;
    const found = (lanes[lane] ?? late).then(() =>
      isLate ? undefined : new Promise<Error | null>((done) => resolve(name, {}, done)),
    );
    lanes[lane] = found.catch(() => {});
    const result = await Promise.race([found, late]);
    clearTimeout(timer);
    return result;
  };
  const faultOf = async (sink: string): Promise<string | undefined> => {
    if (allowPrivateNetwork) return undefined;
    try {
      const { hostname, protocol } = new URL(sink);
      if (protocol !== "https:") return "must be an https URL";
      checkedUrl(sink, { allowPrivateNetwork });
      return faultIn(await lookUp(hostname.replace(/^\[|\]$/g, "")));
    } catch (error) {
      if (error instanceof FetchError) return faultIn(error);
      throw error;
    }
  };
  return async ({ subscription = create(SubscriptionSchema) }) => {
    const violations = subscriptionViolations(subscription, eventsPrefix);
    const description = violations.some(({ field }) => field === "sink") ? undefined : await faultOf(subscription.sink);
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
