import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { digestOf, OCI_IMAGE, OCI_INDEX } from "./installation.ts";

/**
 * A fake of Docker Hub, made from its published API and documents of its limits, not from Hub itself: pulls take a
 * token from another path, GETs of manifests count against a limit that `ratelimit-limit` and `ratelimit-remaining`
 * state, and beyond it are answered with 429 and a Retry-After. HEADs do not count.
 */
export interface FakeHub {
  /** For `registry` of an upstream. */
  registry: string;
  /** The same as people see it. */
  host: string;
  /** All requests but those for tokens, such as `HEAD library/nginx/manifests/1`. */
  seen: string[];
  /** How many GETs of manifests are left, of `limit`; without a limit no header states it. */
  limit: number | undefined;
  remaining: number;
  /** Whether it has a catalog, which Docker Hub has not. */
  hasCatalog: boolean;
  /** In seconds: how long 429 asks to wait. */
  retryAfterS: number;
  /** Called with each request first. Returns true when it has answered it, or will. */
  misbehave: (request: { method: string; path: string; req: IncomingMessage; res: ServerResponse }) => boolean;
  /** Puts an image under the tags. */
  push(name: string, tags: string | string[], content: string): HubImage;
  /** Puts an index of images under the tag. */
  pushIndex(name: string, tag: string, images: HubImage[]): HubImage;
  /** Removes a tag. */
  remove(name: string, tag: string): void;
  /** How many requests began so. */
  asked(start: string): number;
}

interface HubImage {
  digest: string;
  size: number;
  content: string;
  layer: string;
}

interface Stored {
  tags: Map<string, string>;
  manifests: Map<string, { type: string; content: string }>;
  blobs: Map<string, string>;
}

const TOKEN = "a-token-of-the-fake";
const CONFIG = "{}";

export async function startFakeHub(t: TestContext): Promise<FakeHub> {
  const stored = new Map<string, Stored>();
  const of = (name: string): Stored => {
    const known = stored.get(name) ?? { tags: new Map(), manifests: new Map(), blobs: new Map() };
    stored.set(name, known);
    return known;
  };
  const server = createServer((req, res) => {
    const url = new URL(req.url ?? "/", hub.registry);
    if (url.pathname === "/token") return void json(res, 200, { token: TOKEN, expires_in: 300 });
    const path = url.pathname.replace(/^\/v2\//, "");
    const method = req.method ?? "";
    if (req.headers.authorization !== `Bearer ${TOKEN}`) return void json(res, 401, {}, challengeOf(hub));
    hub.seen.push(`${method} ${path}`);
    if (hub.misbehave({ method, path, req, res })) return;
    if (path === "_catalog" && hub.hasCatalog) return void json(res, 200, { repositories: [...stored.keys()].sort() });
    const listed = stored.get(/^(.+)\/tags\/list$/.exec(path)?.[1] ?? "");
    if (listed !== undefined) return void json(res, 200, { tags: [...listed.tags.keys()].sort() });
    const [, name = "", kind = "", reference = ""] = /^(.+)\/(manifests|blobs|referrers)\/([^/]+)$/.exec(path) ?? [];
    answer(hub, stored.get(name), { method, kind, reference }, res);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const put = (name: string, tags: string | string[], type: string, content: string, layer = ""): HubImage => {
    const digest = digestOf(content);
    of(name).manifests.set(digest, { type, content });
    for (const tag of [tags].flat()) of(name).tags.set(tag, digest);
    return { digest, size: content.length, content, layer };
  };
  const hub: FakeHub = {
    registry: `http://${host}`,
    host,
    seen: [],
    limit: undefined,
    remaining: 0,
    hasCatalog: false,
    retryAfterS: 3_600,
    misbehave: () => false,
    push(name, tags, content) {
      const { blobs } = of(name);
      const layer = digestOf(content);
      blobs.set(layer, content).set(digestOf(CONFIG), CONFIG);
      const config = { mediaType: "application/vnd.oci.image.config.v1+json", digest: digestOf(CONFIG), size: 2 };
      const layers = [{ mediaType: "application/vnd.oci.image.layer.v1.tar", digest: layer, size: content.length }];
      const text = JSON.stringify({ schemaVersion: 2, mediaType: OCI_IMAGE, config, layers });
      return put(name, tags, OCI_IMAGE, text, layer);
    },
    pushIndex(name, tag, images) {
      const manifests = images.map(({ digest, size }) => ({ mediaType: OCI_IMAGE, digest, size }));
      return put(name, tag, OCI_INDEX, JSON.stringify({ schemaVersion: 2, mediaType: OCI_INDEX, manifests }));
    },
    remove: (name, tag) => void of(name).tags.delete(tag),
    asked: (start) => hub.seen.filter((each) => each.startsWith(start)).length,
  };
  return hub;
}

function answer(
  hub: FakeHub,
  image: Stored | undefined,
  { method, kind, reference }: { method: string; kind: string; reference: string },
  res: ServerResponse,
): void {
  if (kind === "manifests" && hub.limit !== undefined) {
    if (method === "GET" && hub.remaining === 0) {
      const body = { errors: [{ code: "TOOMANYREQUESTS", message: "You have reached your pull rate limit." }] };
      return json(res, 429, body, { "retry-after": String(hub.retryAfterS), ...rateOf(hub) });
    }
    if (method === "GET") hub.remaining -= 1;
  }
  const manifest = image?.manifests.get(image.tags.get(reference) ?? reference);
  const blob = image?.blobs.get(reference);
  if (kind === "manifests" && manifest !== undefined) {
    const { type, content } = manifest;
    res.writeHead(200, {
      "content-type": type,
      "content-length": content.length,
      "docker-content-digest": digestOf(content),
      ...rateOf(hub),
    });
    res.end(content);
  } else if (kind === "blobs" && blob !== undefined) {
    res.writeHead(200, { "content-length": blob.length }).end(blob);
  } else if (image === undefined) {
    const body = { errors: [{ code: "UNAUTHORIZED", message: "authentication required" }] };
    json(res, 401, body, challengeOf(hub));
  } else json(res, 404, { errors: [{ code: "MANIFEST_UNKNOWN", message: "manifest unknown" }] });
}

function challengeOf({ registry }: FakeHub): Record<string, string> {
  return { "www-authenticate": `Bearer realm="${registry}/token",service="fake"` };
}

function rateOf({ limit, remaining }: FakeHub): Record<string, string> {
  if (limit === undefined) return {};
  return { "ratelimit-limit": `${limit};w=21600`, "ratelimit-remaining": `${remaining};w=21600` };
}

function json(res: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): void {
  res.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}
