// A fake of Nexus Repository 3, written from the published description of its REST API (help.sonatype.com,
// "Repositories API" and "Components API") and of the protocol of npm: it is no Nexus, and none was asked.
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";

/** A file as the fake holds it; `asset`: what its asset says besides, or otherwise. */
export interface HeldAsset {
  name: string;
  version: string;
  filename: string;
  bytes: Buffer;
  asset?: Record<string, unknown>;
  /** Of npm: the manifest, beside its `dist`. */
  manifest?: Record<string, unknown>;
}

export interface FakeRepository {
  format: string;
  type: string;
  attributes?: object;
  files?: readonly HeldAsset[];
  /** Of npm: the tags of packages. */
  tags?: Record<string, Record<string, string>>;
}

type Answer = (req: IncomingMessage, res: ServerResponse, url: URL) => boolean;

export interface FakeNexus {
  url: string;
  seen: string[];
  answer: Answer;
}

const USER = "robot";
const PASSWORD = "a-password";
export const READER = { user: USER, password: PASSWORD };
const PAGE = 2;

export async function startFakeNexus(t: TestContext, repositories: Record<string, FakeRepository>): Promise<FakeNexus> {
  const send = (res: ServerResponse, status: number, body: unknown): void =>
    void res.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  const hash = (kind: string, bytes: Buffer): string => createHash(kind).update(bytes).digest("hex");
  const formatOf = (repository: string): string => repositories[repository]?.format ?? "";
  const pathOf = (repository: string, { name, version, filename }: HeldAsset): string => {
    if (formatOf(repository) === "npm") return `${name}/-/${filename}`;
    if (formatOf(repository) === "maven2") return `${name.replaceAll(/[.:]/g, "/")}/${version}/${filename}`;
    return `packages/${name}/${version}/${filename}`;
  };
  const coordinatesOf = (repository: string, whole: string): object => {
    const cut = formatOf(repository) === "pypi" ? -1 : Math.max(whole.lastIndexOf("/"), whole.lastIndexOf(":"));
    return { group: cut === -1 ? null : whole.slice(0, cut).replace(/^@/, ""), name: whole.slice(cut + 1) };
  };
  const sumsOf = (bytes: Buffer): object =>
    Object.fromEntries(["sha1", "sha256", "sha512", "md5"].map((kind) => [kind, hash(kind, bytes)]));
  const componentOf = (repository: string, held: HeldAsset): object => ({
    id: Buffer.from(`${repository}:${held.name}:${held.filename}`).toString("base64"),
    repository,
    format: formatOf(repository),
    ...coordinatesOf(repository, held.name),
    version: held.version,
    assets: [
      {
        downloadUrl: `${fake.url}/repository/${repository}/${pathOf(repository, held)}`,
        path: pathOf(repository, held),
        format: formatOf(repository),
        checksum: sumsOf(held.bytes),
        lastModified: "2021-03-04T05:06:08.000+00:00",
        blobCreated: "2021-03-04T05:06:07.089+00:00",
        ...held.asset,
      },
    ],
  });
  /** As the protocol of npm has it; undefined for a package that the repository does not have. */
  const packumentOf = (repository: string, name: string): object | undefined => {
    const held = (repositories[repository]?.files ?? []).filter((each) => each.name === name && each.manifest);
    if (held.length === 0) return undefined;
    const versions = held.map((each) => {
      const dist = {
        tarball: `${fake.url}/repository/${repository}/${pathOf(repository, each)}`,
        shasum: hash("sha1", each.bytes),
      };
      return [
        each.version,
        { name, version: each.version, ...each.manifest, dist: { ...dist, ...Object(each.manifest?.["dist"]) } },
      ] as const;
    });
    return {
      name,
      "dist-tags": repositories[repository]?.tags?.[name] ?? {},
      versions: Object.fromEntries(versions),
      readme: `# ${name}`,
    };
  };
  const server = createServer((req, res) => {
    const url = new URL(req.url ?? "", fake.url);
    const path = decodeURIComponent(url.pathname);
    fake.seen.push(`${req.method} ${path}`);
    if (fake.answer(req, res, url)) return;
    if (req.headers.authorization !== `Basic ${Buffer.from(`${USER}:${PASSWORD}`).toString("base64")}`)
      return send(res, 401, {});
    if (path === "/service/rest/v1/repositories") {
      const list = Object.entries(repositories).map(([name, { format, type, attributes = {} }]) => {
        return { name, format, type, attributes, url: `${fake.url}/repository/${name}` };
      });
      return send(res, 200, list);
    }
    if (path === "/service/rest/v1/components") {
      const name = url.searchParams.get("repository") ?? "";
      const files = repositories[name]?.files;
      if (files === undefined) return send(res, 404, {});
      const from = Number(url.searchParams.get("continuationToken") ?? 0);
      const items = files.slice(from, from + PAGE).map((held) => componentOf(name, held));
      return send(res, 200, { items, continuationToken: from + PAGE < files.length ? String(from + PAGE) : null });
    }
    for (const [name, { files = [] }] of Object.entries(repositories))
      for (const held of files)
        if (path === `/repository/${name}/${pathOf(name, held)}`) return void res.writeHead(200).end(held.bytes);
    const [, repository = "", rest = ""] = /^\/repository\/([^/]+)\/(.*)$/.exec(path) ?? [];
    const packument = formatOf(repository) === "npm" ? packumentOf(repository, rest) : undefined;
    if (packument !== undefined) return send(res, 200, packument);
    send(res, 404, {});
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const fake: FakeNexus = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen: [],
    answer: () => false,
  };
  return fake;
}
