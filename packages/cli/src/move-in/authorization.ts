// Who asks the registry that moves in: by name and password, by a token, or as anybody.
import { lookup } from "node:dns/promises";
import { isObject, parseJson } from "@moorage/kernel/lib/json";
import { interruption } from "../command/interrupt.ts";
import { send } from "../http/http.ts";
import { parseChallenge } from "../oci/challenge.ts";
import { isLinkLocal } from "./address.ts";
import { SourceError } from "./source-error.ts";

/** Both empty: anybody. */
export interface Credentials {
  username: string;
  password: string;
}

/** The Authorization headers for one registry. */
interface Authorization {
  /** The header for a URL of the registry; undefined without one. */
  known(url: URL): string | undefined;
  /** Gets the header that a challenge asks for. False when there is none. Throws a SourceError. */
  meet(url: URL, challenge: string | null): Promise<boolean>;
}

const MAX_TOKENS = 1_000;
const MAX_TOKEN_BYTES = 256 * 1024;
const TIMEOUT_MS = 30_000;

/** Source: distribution token protocol; RFC 7617. */
export function openAuthorization(origin: string, { username, password }: Credentials): Authorization {
  const basic = username === "" ? undefined : `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
  // Under this name Quay's registry takes a token of its API.
  const plain = username === "$oauthtoken" ? `Bearer ${password}` : basic;
  let sendsBasic = false;
  const tokens = new Map<string, string>();
  // Tokens are for one repository, or for all that is not below one.
  const keyOf = (url: URL): string => /^\/v2\/(.+)\/(?:manifests|blobs|tags|referrers)\//.exec(url.pathname)?.[1] ?? "";
  return {
    known(url) {
      if (url.origin !== origin) return undefined;
      if (!url.pathname.startsWith("/v2/")) return plain;
      return tokens.get(keyOf(url)) ?? (sendsBasic ? basic : undefined);
    },
    async meet(url, challenge) {
      const asked = parseChallenge(challenge);
      if (asked === undefined) {
        const isNew = !sendsBasic && basic !== undefined && /^basic\b/i.test(challenge ?? "");
        sendsBasic ||= isNew;
        return isNew;
      }
      if (tokens.size >= MAX_TOKENS) tokens.clear();
      tokens.set(keyOf(url), `Bearer ${await tokenOf(origin, asked, basic)}`);
      return true;
    },
  };
}

async function tokenOf(
  origin: string,
  { realm, service, scope }: { realm: string; service: string; scope: string },
  basic: string | undefined,
): Promise<string> {
  const url = URL.parse(realm, origin);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new SourceError("the source names a token endpoint that is no URL");
  if (url.origin !== origin) await requireFit(url, origin);
  url.searchParams.set("service", service);
  if (scope !== "") url.searchParams.set("scope", scope);
  const signal = AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), interruption()]);
  const headers = { accept: "application/json", ...(basic !== undefined && { authorization: basic }) };
  const response = await send(url.href, { headers, signal });
  if (response.status !== 200) {
    await response.body?.cancel();
    if (response.status >= 300 && response.status < 400)
      throw new SourceError("the source's token endpoint redirects elsewhere: not followed");
    throw new SourceError(`the source's token endpoint refuses us (${response.status})`, { status: response.status });
  }
  const token = tokenIn(await readAnswer(response));
  if (token === undefined) throw new SourceError("the source's token endpoint answers without a token");
  return token;
}

/** Throws a SourceError for a token endpoint of another host without TLS, where the registry has it, or link-local. */
async function requireFit(url: URL, origin: string): Promise<void> {
  if (url.protocol !== "https:" && origin.startsWith("https:"))
    throw new SourceError(`the source names a token endpoint without TLS, ${url.host}: not asked`);
  const addresses = await lookup(url.hostname.replace(/^\[|\]$/g, ""), { all: true }).catch(() => []);
  if ([url.hostname, ...addresses.map(({ address }) => address)].some(isLinkLocal))
    throw new SourceError(`the source names a token endpoint at ${url.host}, a link-local address: not asked`);
}

/** The JSON of an answer with a token; undefined for one that is none, or too large. */
export async function readAnswer(response: Response): Promise<unknown> {
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString("latin1");
    if (text.length > MAX_TOKEN_BYTES) return undefined;
  }
  try {
    return parseJson(text, 16);
  } catch {
    return undefined;
  }
}

/** The token in an answer; undefined for one without, or with one that a header cannot have. */
export function tokenIn(answer: unknown): string | undefined {
  const { token, access_token: accessToken } = isObject(answer) ? answer : {};
  const found = typeof token === "string" && token !== "" ? token : accessToken;
  return typeof found === "string" && /^[\x21-\x7e]+$/.test(found) ? found : undefined;
}
