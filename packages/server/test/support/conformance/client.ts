import { Agent, type IncomingHttpHeaders, request } from "node:http";
import { buffer } from "node:stream/consumers";

/** An answer with its whole body. */
export interface Reply {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

interface Send {
  headers?: Record<string, string | string[]>;
  /** Parameters added to those of the target. A list sends its name several times. */
  query?: Record<string, string | string[]>;
  body?: Buffer;
  /** Whether the body is sent by Transfer-Encoding: chunked, without a Content-Length. */
  unannounced?: boolean;
}

export interface RegistryClient {
  /** `target` is a path or a Location header. */
  send(method: string, target: string, options?: Send): Promise<Reply>;
  /** The number of tokens fetched so far. */
  tokensFetched(): number;
  close(): void;
}

/**
 * A client that authenticates like the conformance suite of the OCI distribution specification: it sends each request
 * without credentials first, with its body, follows the WWW-Authenticate challenge of the 401 to the token endpoint
 * with `password`, and sends the request again. With `cachesTokens` a token is used for every later request of the same
 * kind (pull, push or delete) to the same repository, whatever scope that one needs.
 */
export function createClient(baseUrl: string, password: string, cachesTokens: boolean): RegistryClient {
  const agent = new Agent({ keepAlive: true });
  const tokens = new Map<string, string>();
  const basic = `Basic ${Buffer.from(`any:${password}`).toString("base64")}`;
  let fetched = 0;

  const fetchToken = async (url: URL, challenge: string): Promise<string> => {
    const { realm = "", service = "", scope } = parametersOf(challenge);
    const endpoint = new URL(realm, url);
    endpoint.search = new URLSearchParams({ service, ...(scope !== undefined && { scope }) }).toString();
    const answer = await exchange(agent, "GET", endpoint, { authorization: basic, accept: "application/json" });
    if (answer.status !== 200) throw new Error(`${endpoint.href}: ${answer.status} ${answer.body.toString()}`);
    const { token, access_token } = JSON.parse(answer.body.toString()) as { token?: string; access_token?: string };
    fetched += 1;
    return `Bearer ${access_token ?? token}`;
  };

  return {
    async send(method, target, options = {}) {
      const url = new URL(target, baseUrl);
      for (const [name, values] of Object.entries(options.query ?? {}))
        for (const value of [values].flat()) url.searchParams.append(name, value);
      const headers = { ...framing(method, options), ...options.headers };
      const key = tokenKey(method, url.pathname);
      const known = tokens.get(key);
      const first = await exchange(
        agent,
        method,
        url,
        known === undefined ? headers : { ...headers, authorization: known },
        options.body,
      );
      const challenge = first.headers["www-authenticate"];
      if (first.status !== 401 || challenge === undefined) return first;
      const authorization = await fetchToken(url, challenge);
      if (cachesTokens) tokens.set(key, authorization);
      return exchange(agent, method, url, { ...headers, authorization }, options.body);
    },
    tokensFetched: () => fetched,
    close: () => agent.destroy(),
  };
}

function exchange(
  agent: Agent,
  method: string,
  url: URL,
  headers: Record<string, string | string[]>,
  body?: Buffer,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, headers, agent, signal: AbortSignal.timeout(60_000) }, (incoming) => {
      buffer(incoming).then(
        (content) => resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: content }),
        reject,
      );
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

function framing(method: string, { body, unannounced = false }: Send): Record<string, string> {
  if (body !== undefined && unannounced) return { "transfer-encoding": "chunked" };
  if (body !== undefined || method === "POST" || method === "PUT") return { "content-length": `${body?.length ?? 0}` };
  return {};
}

function parametersOf(challenge: string): Record<string, string> {
  if (!/^bearer /i.test(challenge)) throw new Error(`not a Bearer challenge: ${challenge}`);
  return Object.fromEntries(
    [...challenge.matchAll(/([a-z]+)="([^"]+)"/gi)].map(([, name = "", value = ""]) => [name.toLowerCase(), value]),
  );
}

const KINDS: Record<string, string> = { GET: "pull", HEAD: "pull", POST: "push", PATCH: "push", PUT: "push" };

function tokenKey(method: string, path: string): string {
  const repository = /^\/v2\/(.+?)\/(?:blobs|manifests|tags|referrers)\//.exec(path)?.[1] ?? "";
  return `${KINDS[method] ?? method} ${repository}`;
}
