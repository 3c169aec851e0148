import { isObject, parseJson } from "@moorage/kernel/lib/json";
import { readBounded } from "@moorage/kernel/lib/guarded-fetch";
import { createSemaphore } from "@moorage/kernel/lib/semaphore";
import type { StreamClient } from "@moorage/kernel/lib/stream-client";
import type { CenterAnswer, Centers, CenterQuestion } from "../../oci/index.ts";
import type { StandIn } from "../../upstreams/index.ts";
import { asUpstreamError, retryAfterMs, UpstreamError } from "../errors.ts";
import type { UpstreamStates } from "./states.ts";
import type { MirrorDeps } from "../context.ts";

interface AskDeps {
  deps: Pick<MirrorDeps, "clock" | "log">;
  client: StreamClient;
  states: UpstreamStates;
}

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 64 * 1024;
const MAX_DEPTH = 16;
const CONCURRENCY = 8;
const MAX_WAITING = 64;
// A center that did not answer is asked again after this, unless nothing is known of the token.
const AWAY_MS = 3_000;
const MAX_AWAY = 1_000;

/**
 * Asks centers what their pull tokens may pull, at their token endpoints. The token goes to the registry of the
 * upstream alone: redirects are not followed. Source: docs/contract.md, "Registry tokens".
 */
export function createCenters({ deps, client, states }: AskDeps): Centers {
  const away = new Map<string, number>();
  const run = createSemaphore(CONCURRENCY);
  let waiting = 0;
  const ask = async (standIn: StandIn, question: CenterQuestion): Promise<CenterAnswer> => {
    const guard = states.guard(standIn);
    try {
      guard.before();
      const answer = await askOnce(client, standIn, question, deps.clock.nowMs());
      guard.answered(answer.status, answer.headers);
      away.delete(standIn.origin);
      return answer.said;
    } catch (thrown) {
      const error = isTimeout(thrown)
        ? new UpstreamError("unreachable", "its token endpoint takes too long")
        : asUpstreamError(thrown);
      if (!(error instanceof UpstreamError)) throw error;
      guard.failed(error);
      if (away.size >= MAX_AWAY) away.clear();
      away.set(standIn.origin, performance.now() + AWAY_MS);
      // Its message names no credential.
      deps.log.info(
        { registry: standIn.registry, problem: error.message },
        "a center did not say what a pull token may",
      );
      return { kind: "silent" };
    }
  };
  return {
    async ask(standIn, question) {
      if (standIn.disabled || standIn.origin === "") return { kind: "silent" };
      if (question.isHeld && performance.now() < (away.get(standIn.origin) ?? 0)) return { kind: "silent" };
      if (waiting >= MAX_WAITING) return { kind: "silent" };
      waiting += 1;
      try {
        return await run(async () => await ask(standIn, question));
      } finally {
        waiting -= 1;
      }
    },
  };
}

async function askOnce(
  client: StreamClient,
  { origin }: StandIn,
  { user, secret, names }: CenterQuestion,
  nowMs: number,
) {
  const url = new URL("/token", origin);
  url.searchParams.set("service", url.host);
  for (const name of names) url.searchParams.append("scope", `repository:${name}:pull`);
  const authorization = `Basic ${Buffer.from(`${user}:${secret}`).toString("base64")}`;
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const answer = await client.request(url.href, { headers: { authorization }, signal });
  const { status, headers } = answer;
  if (status === 200) {
    const said = grantedBy(await readBounded(answer.body, MAX_BYTES), user, names);
    if (said === undefined)
      throw new UpstreamError("wrong", "its token endpoint answers without a token of the caller");
    return { status, headers, said };
  }
  answer.discard();
  if (status === 401 || status === 403) return { status, headers, said: { kind: "no" } as const };
  const afterMs = retryAfterMs(headers["retry-after"], nowMs);
  const message = `its token endpoint answered ${status}`;
  if (status === 429) throw new UpstreamError("limited", message, { status, retryAfterMs: afterMs });
  throw new UpstreamError(status >= 500 ? "unreachable" : "wrong", message, { status, retryAfterMs: afterMs });
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && (error.name === "TimeoutError" || error.name === "AbortError");
}

/**
 * What the center grants, by the claims of the token that it answered with; that the center signed it is known by the
 * connection. Undefined for anything else, and for a token of somebody else, such as the anonymous one.
 */
function grantedBy(body: Buffer, user: string, names: readonly string[]): CenterAnswer | undefined {
  const { token } = objectIn(body.toString()) ?? {};
  if (typeof token !== "string") return undefined;
  const claims = objectIn(Buffer.from(token.split(".", 2)[1] ?? "", "base64url").toString());
  if (claims?.["sub"] === "") return { kind: "no" };
  const access = claims?.["access"] ?? [];
  if (claims?.["sub"] !== user || !Array.isArray(access)) return undefined;
  const pulled = new Set<unknown>();
  for (const entry of access as unknown[])
    if (isObject(entry) && entry["type"] === "repository" && entry["digest"] === undefined)
      if (Array.isArray(entry["actions"]) && entry["actions"].includes("pull")) pulled.add(entry["name"]);
  return { kind: "yes", names: names.filter((name) => pulled.has(name)) };
}

function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    const value = parseJson(text, MAX_DEPTH);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
