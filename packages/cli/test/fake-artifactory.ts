// A fake of JFrog Artifactory 7, written from the published descriptions of its REST API (Get Repositories, Get
// Repository Configuration), of its query language and of the protocol of npm: it is no Artifactory, and none was
// asked.
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { TestContext } from "node:test";

/** A file as the fake stores it. */
export interface StoredItem {
  /** In its repository. */
  path: string;
  bytes: Buffer;
  /** What the answer of a query says besides, or otherwise. */
  item?: Record<string, unknown>;
  /** Of npm: the manifest, with name and version; `dist` says otherwise what the fake would say. */
  manifest?: Record<string, unknown>;
}

export interface FakeListed {
  packageType: string;
  type: string;
  /** What the list says that it asks; where it does not say, the list has where the repository is. */
  url?: string;
  /** What its configuration says; undefined where it may not be read. */
  config?: object;
  files?: readonly StoredItem[];
  /** Of images: their names. */
  images?: readonly string[];
  /** Of npm: the tags of packages. */
  tags?: Record<string, Record<string, string>>;
}

type Answer = (req: IncomingMessage, res: ServerResponse, url: URL, body: string) => boolean;

export interface FakeArtifactory {
  url: string;
  /** What it takes from its reader. */
  password: string;
  seen: string[];
  answer: Answer;
}

const USER = "robot";
const PASSWORD = "a-password";
export const READER = { user: USER, password: PASSWORD };
export const CREATED = "2021-03-04T05:06:07.089Z";

/**
 * `content`: the URL of a registry whose images it has, as those of an Artifactory are below the names of their
 * repositories.
 */
export async function startFakeArtifactory(
  t: TestContext,
  repositories: Record<string, FakeListed>,
  content = "",
): Promise<FakeArtifactory> {
  const send = (res: ServerResponse, status: number, body: unknown): void =>
    void res.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  const hash = (kind: string, bytes: Buffer): string => createHash(kind).update(bytes).digest("hex");
  const itemOf = (repo: string, { path, bytes, item }: StoredItem): object => {
    const cut = path.lastIndexOf("/");
    return {
      repo,
      path: cut === -1 ? "." : path.slice(0, cut),
      name: path.slice(cut + 1),
      created: CREATED,
      modified: "2021-03-04T05:06:08.000Z",
      actual_sha1: hash("sha1", bytes),
      sha256: hash("sha256", bytes),
      ...item,
    };
  };
  /** Answers a query of the form that the query language describes: which repository, from where on, how many. */
  const query = (res: ServerResponse, said: string): void => {
    const [, what = "{}"] = /^items\.find\((\{.*?\})\)\.include\([^)]*\)/.exec(said) ?? [];
    const { repo, type } = JSON.parse(what) as Record<string, string>;
    const offset = Number(/\.offset\((\d+)\)/.exec(said)?.[1] ?? 0);
    const limit = Number(/\.limit\((\d+)\)/.exec(said)?.[1] ?? Number.NaN);
    if (repo === undefined || type !== "file" || Number.isNaN(limit)) return send(res, 400, { errors: [] });
    const results = (repositories[repo]?.files ?? [])
      .slice(offset, offset + limit)
      .map((stored) => itemOf(repo, stored));
    send(res, 200, {
      results,
      range: { start_pos: offset, end_pos: offset + results.length, total: results.length, limit },
    });
  };
  const packumentOf = (repo: string, name: string): object | undefined => {
    const held = (repositories[repo]?.files ?? []).filter(({ manifest }) => manifest?.["name"] === name);
    if (held.length === 0) return undefined;
    const versions = held.map(({ path, bytes, manifest = {} }) => {
      const dist = {
        tarball: `${fake.url}/artifactory/api/npm/${repo}/${path}`,
        shasum: hash("sha1", bytes),
        integrity: `sha512-${createHash("sha512").update(bytes).digest("base64")}`,
      };
      return [String(manifest["version"]), { dist, ...manifest }] as const;
    });
    return { name, "dist-tags": repositories[repo]?.tags?.[name] ?? {}, versions: Object.fromEntries(versions) };
  };
  const respond = (req: IncomingMessage, res: ServerResponse, url: URL, body: string): void => {
    const path = decodeURIComponent(url.pathname);
    if (fake.answer(req, res, url, body)) return;
    if (req.headers.authorization !== `Basic ${Buffer.from(`${USER}:${fake.password}`).toString("base64")}`)
      return send(res, 401, { errors: [{ status: 401, message: "Bad credentials" }] });
    const below = path.startsWith("/artifactory/") ? path.slice("/artifactory/".length) : "";
    if (below === "api/repositories") {
      const list = Object.entries(repositories).map(([key, { packageType, type, config, url: remote }]) => {
        const asked = remote ?? (config as { url?: string } | undefined)?.url;
        return { key, type, packageType, url: asked ?? `${fake.url}/artifactory/${key}` };
      });
      return send(res, 200, list);
    }
    const images = repositories[/^api\/docker\/([^/]+)\/v2\/_catalog$/.exec(below)?.[1] ?? ""]?.images;
    if (images !== undefined) return send(res, 200, { repositories: images });
    if (below === "api/search/aql" && req.method === "POST") return query(res, body);
    const [, key = ""] = /^api\/repositories\/(.+)$/.exec(below) ?? [];
    if (key !== "") {
      const config = repositories[key]?.config;
      return config === undefined ? send(res, 403, { errors: [] }) : send(res, 200, { key, ...config });
    }
    const [, repo = "", name = ""] = /^api\/npm\/([^/]+)\/(.+)$/.exec(below) ?? [];
    const packument = repo === "" ? undefined : packumentOf(repo, name);
    if (packument !== undefined) return send(res, 200, packument);
    for (const [repository, { files = [] }] of Object.entries(repositories))
      for (const { path: stored, bytes } of files)
        if (below === `${repository}/${stored}`) return void res.writeHead(200).end(bytes);
    send(res, 404, { errors: [] });
  };
  const server = createServer((req, res) => {
    const url = new URL(req.url ?? "", fake.url);
    fake.seen.push(`${req.method} ${decodeURIComponent(url.pathname)}`);
    if (content === "" || !/^\/(?:v2|token)\b/.test(url.pathname))
      return void text(req).then((body) => respond(req, res, url, body));
    const { hostname, port } = new URL(content);
    const { method, headers, url: path } = req;
    const outgoing = request({ hostname, port, method, path, headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(res);
    });
    outgoing.on("error", () => res.destroy());
    req.pipe(outgoing);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const fake: FakeArtifactory = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    password: PASSWORD,
    seen: [],
    answer: () => false,
  };
  return fake;
}
