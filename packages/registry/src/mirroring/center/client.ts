import { isObject, parseJson } from "@moorage/kernel/lib/json";
import type { Authorization } from "../authorization.ts";
import { UpstreamError } from "../errors.ts";
import { openExchange, type SmallAnswer } from "../request.ts";
import type { UpstreamOptions } from "../registry-client.ts";

/** A list of the API of a Moorage. */
export interface ApiList {
  path: string;
  /** The field of its pages. */
  field: string;
  query?: Record<string, string>;
  /** More items than that are not read. */
  most: number;
  /** How many items a page has at most. */
  pageSize: number;
}

/**
 * A client for the API of a registry that may be a Moorage, with the password of an upstream as its token. Everything
 * throws an UpstreamError, of kind `refused` where the credential has no right to the API, or the signal's reason.
 */
export interface CenterClient {
  /** Whether the registry answers the check of a connection as a Moorage does. No credential is sent for that. */
  isMoorage(signal: AbortSignal): Promise<boolean>;
  /** The items of a list, a page at a time. Throws when it has too many, brings nothing new, or takes too long. */
  pages(list: ApiList, signal: AbortSignal): AsyncGenerator<Record<string, unknown>[]>;
  /** Calls a method once. */
  post(path: string, message: object, signal: AbortSignal): Promise<Record<string, unknown>>;
  /** By how many milliseconds its clock is ahead of ours, by its last answer; undefined where it says no time. */
  aheadMs(): number | undefined;
}

const MAX_BYTES = 8 << 20;
const MAX_PONG_BYTES = 1_024;
const MAX_DEPTH = 32;
const MAX_TOKEN = 2_000;
// Lists leave out what the caller may not see, so that pages may be empty.
const MAX_IDLE_PAGES = 8;
const LIST_TIMEOUT_MS = 1_800_000;
const ONCE = { retries: 0, maxWaitMs: 0 };

/** Source: docs/contract.md, "Connectivity check" and "Lists". */
export function openCenterClient({
  client,
  clock,
  origin,
  credentials,
  retryPolicy,
  guard,
  listTimeoutMs = LIST_TIMEOUT_MS,
}: Omit<UpstreamOptions, "name">): CenterClient {
  const options = { client, clock, origin, retryPolicy };
  // What a registry answers to a path that it need not know says nothing of how it is.
  const silent = guard && { before: () => guard.before(), answered: () => {}, failed: () => {} };
  const nobody = openExchange({ ...options, authorization: fixed(undefined), guard: silent });
  const header = credentials.password === "" ? undefined : `Bearer ${credentials.password}`;
  const exchange = openExchange({ ...options, authorization: fixed(header), guard });
  let aheadMs: number | undefined;
  const bodyOf = (answer: SmallAnswer): Record<string, unknown> => {
    if (answer.url.origin !== origin) throw new UpstreamError("wrong", "its API sends us to another host");
    if (answer.status !== 200) throw new UpstreamError("wrong", `its API answered ${answer.status}`, answer);
    const dateMs = Date.parse(String(answer.headers["date"]).slice(0, 40));
    aheadMs = Number.isNaN(dateMs) ? undefined : dateMs - clock.nowMs();
    const value = objectIn(answer.body);
    if (value === undefined) throw new UpstreamError("wrong", "its API answers with something other than JSON");
    return value;
  };
  return {
    aheadMs: () => aheadMs,
    async isMoorage(signal) {
      const headers = { accept: "application/json" };
      const answer = await nobody.read({ target: "/ping/v2/ping", headers, signal, retryPolicy: ONCE }, MAX_PONG_BYTES);
      const said = answer.status === 200 ? objectIn(answer.body) : undefined;
      return answer.url.origin === origin && said?.["response"] === "pong";
    },
    async *pages({ path, field, query = {}, most, pageSize }, signal) {
      const within = AbortSignal.any([signal, AbortSignal.timeout(listTimeoutMs)]);
      let [count, idle] = [0, 0];
      for (let next: string | undefined = ""; next !== undefined;) {
        const search = new URLSearchParams({ ...query, pageSize: String(pageSize) });
        if (next !== "") search.set("pageToken", next);
        const headers = { accept: "application/json" };
        const answer: SmallAnswer = await exchange
          .read({ target: `${path}?${search}`, headers, signal: within }, MAX_BYTES)
          .catch((error: unknown) => {
            if (!within.aborted || signal.aborted) throw error;
            throw new UpstreamError("wrong", `a list of its API takes longer than ${listTimeoutMs / 1000} s`);
          });
        const body = bodyOf(answer);
        const items = body[field] ?? [];
        if (!Array.isArray(items)) throw new UpstreamError("wrong", `its API answers without a list of ${field}`);
        const token = body["nextPageToken"];
        next = typeof token === "string" && token !== "" ? token.slice(0, MAX_TOKEN) : undefined;
        count += items.length;
        idle = items.length > 0 ? 0 : idle + 1;
        if (count > most) throw new UpstreamError("wrong", `its API lists more than ${most} ${field}`);
        if (idle > MAX_IDLE_PAGES && next !== undefined)
          throw new UpstreamError("wrong", `its API's list of ${field} leads on, and brings nothing new`);
        yield items.filter(isObject);
      }
    },
    async post(path, message, signal) {
      const headers = { accept: "application/json", "content-type": "application/json" };
      const body = Buffer.from(JSON.stringify(message));
      return bodyOf(
        await exchange.read({ method: "POST", target: path, headers, body, signal, retryPolicy: ONCE }, MAX_BYTES),
      );
    },
  };
}

function fixed(header: string | undefined): Authorization {
  return { known: () => header, answer: async () => undefined };
}

function objectIn(body: Buffer): Record<string, unknown> | undefined {
  try {
    const value = parseJson(body.toString(), MAX_DEPTH);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
