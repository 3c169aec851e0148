// A fake of verdaccio, written from the source of its API (verdaccio 6, src/api/endpoint and src/api/web): it is no
// verdaccio. `.ci/move-packages.sh` runs the same command against a real one.
import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { text } from "node:stream/consumers";
import { tarballOf } from "../../server/test/support/npm.ts";

/** A version as the fake holds it. */
interface Held {
  manifest: Record<string, unknown>;
  tarball: Buffer;
  time?: string;
}

/** A package as the fake holds it. */
export interface FakePackage {
  versions: Record<string, Held>;
  tags: Record<string, string>;
  readme?: string;
  /** The uplinks that it has versions of, too. */
  uplinks?: string[];
}

/** What the fake answers in place of what it has. True: it has answered. */
type Answer = (req: IncomingMessage, res: ServerResponse, path: string) => boolean;

export interface FakeVerdaccio {
  url: string;
  packages: Record<string, FakePackage>;
  seen: string[];
  answer: Answer;
}

const USER = "robot";
const PASSWORD = "a-password";
const WEB_TOKEN = "web-token";
export const READER = { user: USER, password: PASSWORD };

/** A version with a tarball of its own, of a little more than so many bytes. */
export function versionOf(
  name: string,
  version: string,
  { time, bytes = 0, ...fields }: { time?: string; bytes?: number; deprecated?: string } = {},
): Held {
  const tarball = tarballOf({ name, version }, { "data.bin": randomBytes(bytes).toString("base64") });
  const dist = {
    integrity: `sha512-${createHash("sha512").update(tarball).digest("base64")}`,
    shasum: createHash("sha1").update(tarball).digest("hex"),
  };
  return { manifest: { name, version, ...fields, _id: `${name}@${version}`, dist }, tarball, ...(time && { time }) };
}

export async function startFakeVerdaccio(
  t: TestContext,
  packages: Record<string, FakePackage>,
  answer: Answer = () => false,
): Promise<FakeVerdaccio> {
  const send = (res: ServerResponse, status: number, body: unknown): void =>
    void res.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  const tarballPath = (name: string, version: string): string =>
    `/${name}/-/${name.slice(name.indexOf("/") + 1)}-${version}.tgz`;
  const manifestsOf = (name: string, { versions }: FakePackage): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(versions).map(([version, { manifest }]) => {
        const tarball = `${fake.url}${tarballPath(name, version)}`;
        return [version, { ...manifest, dist: { tarball, ...(manifest["dist"] as object) } }];
      }),
    );
  const packument = (name: string, held: FakePackage): Record<string, unknown> => ({
    name,
    "dist-tags": held.tags,
    versions: manifestsOf(name, held),
    time: Object.fromEntries(Object.entries(held.versions).map(([version, { time }]) => [version, time])),
    readme: held.readme ?? "",
    _attachments: {},
  });
  const web = (res: ServerResponse, path: string): void => {
    if (path === "packages") {
      const latest = Object.entries(fake.packages).map(
        ([name, held]) => manifestsOf(name, held)[held.tags["latest"] ?? ""],
      );
      return send(res, 200, latest);
    }
    const name = path.slice("sidebar/".length);
    const held = fake.packages[name];
    if (held === undefined) return send(res, 404, { error: "no such package available" });
    const { name: _, readme: __, ...rest } = packument(name, held);
    const _uplinks = Object.fromEntries((held.uplinks ?? []).map((uplink) => [uplink, { fetched: 1 }]));
    send(res, 200, { ...rest, _uplinks });
  };
  const server = createServer((req, res) => {
    const path = decodeURIComponent(new URL(req.url ?? "", fake.url).pathname);
    fake.seen.push(`${req.method} ${path}`);
    if (fake.answer(req, res, path)) return;
    if (req.method === "POST" && path === "/-/verdaccio/sec/login") {
      void text(req).then((body) => {
        const { username, password } = JSON.parse(body) as Record<string, string>;
        if (username === USER && password === PASSWORD) send(res, 200, { token: WEB_TOKEN, username });
        else send(res, 401, { error: "bad username/password" });
      });
      return;
    }
    const { authorization } = req.headers;
    if (path.startsWith("/-/verdaccio/data/"))
      return authorization === `Bearer ${WEB_TOKEN}`
        ? web(res, path.slice("/-/verdaccio/data/".length))
        : send(res, 401, { error: "unauthorized" });
    if (authorization !== `Basic ${Buffer.from(`${USER}:${PASSWORD}`).toString("base64")}`)
      return send(res, 401, { error: "authorization required" });
    const [, name = "", version] = /^\/((?:@[^/]+\/)?[^/]+)(?:\/-\/.*?-(\d.*)\.tgz)?$/.exec(path) ?? [];
    const held = fake.packages[name];
    if (held === undefined) return send(res, 404, { error: "no such package available" });
    if (version === undefined) return send(res, 200, packument(name, held));
    const tarball = held.versions[version]?.tarball;
    if (tarball === undefined) return send(res, 404, { error: "no such file available" });
    res.writeHead(200, { "content-type": "application/octet-stream" }).end(tarball);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const fake: FakeVerdaccio = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    packages,
    seen: [],
    answer,
  };
  return fake;
}
