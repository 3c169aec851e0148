import type { Secrets } from "@moorage/kernel/lib/secrets";
import type { StreamAnswer, StreamClient } from "@moorage/kernel/lib/stream-client";
import { credentialPlace } from "./credentials.ts";
import { asFailure, UpstreamFailure } from "./errors.ts";
import type { UpstreamSettings } from "./settings.ts";

/** An answer of an upstream, whose body is still arriving: it must be read to its end or discarded. */
export interface UpstreamAnswer extends StreamAnswer {
  /** The URL that answered, after redirects: links in the body are relative to it. */
  url: string;
}

/** A request to an upstream. */
interface UpstreamRequest {
  /** Absolute. */
  url: string;
  headers: Record<string, string>;
  signal: AbortSignal;
}

const MAX_REDIRECTS = 5;

/**
 * Sends requests to upstreams. Returns answers with 200, 304, 404 and 410, and throws an UpstreamFailure for all
 * others. Each redirect is followed under the rules of the guarded fetch. Credentials are sent to the origin of the
 * upstream's URL alone; once a redirect has led elsewhere, not even there.
 */
export function createUpstreamClient(
  client: StreamClient,
  secrets: Secrets,
): (settings: UpstreamSettings, request: UpstreamRequest) => Promise<UpstreamAnswer> {
  return async (settings, { url: first, headers, signal }) => {
    const { origin } = new URL(settings.url);
    const authorization = authorizationOf(settings, secrets);
    let url = URL.parse(first);
    if (url === null) throw new UpstreamFailure("wrong", "it names an address that is none");
    let own = url.origin === origin;
    for (let steps = 0; ; steps += 1) {
      const sent = own && authorization !== undefined ? { ...headers, authorization } : headers;
      let answer: StreamAnswer;
      try {
        answer = await client.request(url.href, { headers: sent, signal });
      } catch (error) {
        throw asFailure(error);
      }
      const { status } = answer;
      if (status === 200 || status === 304 || status === 404 || status === 410) return { ...answer, url: url.href };
      answer.discard();
      const location = answer.headers["location"];
      if (status < 300 || status >= 400 || typeof location !== "string")
        throw failureOf(status, own, authorization !== undefined);
      if (steps === MAX_REDIRECTS) throw new UpstreamFailure("wrong", `it redirects more than ${MAX_REDIRECTS} times`);
      url = URL.parse(location, url.href);
      if (url === null) throw new UpstreamFailure("wrong", "it redirects to what is no URL");
      own &&= url.origin === origin;
    }
  };
}

/** Basic with a user name, Bearer with a password alone, as registries take tokens. */
function authorizationOf({ uid, username, credential }: UpstreamSettings, secrets: Secrets): string | undefined {
  if (credential === "") return undefined;
  const password = secrets.open(credential, credentialPlace(uid));
  return username === "" ? `Bearer ${password}` : `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}

function failureOf(status: number, own: boolean, hasPassword: boolean): UpstreamFailure {
  if (status === 401 || status === 403) {
    const who = own ? "it" : "the place that it names";
    const whatToDo = hasPassword ? "check the upstream's user name and password" : "the upstream has no password";
    return new UpstreamFailure("refused", `${who} does not let us read (${status})${own ? `; ${whatToDo}` : ""}`);
  }
  return status === 408 || status === 429 || status >= 500
    ? new UpstreamFailure("unreachable", `it answered ${status}`)
    : new UpstreamFailure("wrong", `it answered ${status}`);
}
