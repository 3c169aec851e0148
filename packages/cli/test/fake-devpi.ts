// A fake of devpi-server, written from the published description of its API (devpi-server 6, "curl" and views.py): it
// is no devpi. `.ci/move-packages.sh` runs the same command against a real one.
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { TestContext } from "node:test";
import { sdistOf, type Wheel, wheelOf } from "../../server/test/support/pypi.ts";

/** What a log says of when a file came: year, month, day, hour, minute, second. */
type When = readonly number[];

/** A file as the fake holds it; `link`: what its link says besides, or otherwise. */
interface HeldFile {
  filename: string;
  bytes: Buffer;
  when?: When;
  link?: Record<string, unknown>;
}

/** Files by version, of a project. */
export type FakeProject = Record<
  string,
  { files: readonly HeldFile[]; data?: Record<string, unknown>; links?: object[] }
>;

/** An index: its configuration, and its projects by the names that it lists. */
export interface FakeIndex {
  config: Record<string, unknown>;
  projects?: Record<string, FakeProject>;
}

/** What the fake answers in place of what it has. True: it has answered. */
type Answer = (req: IncomingMessage, res: ServerResponse, path: string) => boolean;

export interface FakeDevpi {
  url: string;
  /** By `user/index`. */
  indexes: Record<string, FakeIndex>;
  seen: string[];
  answer: Answer;
}

const USER = "robot";
const PASSWORD = "a-password";
// As devpi's are: with spaces.
const TOKEN = '["robot", [], true].a-token.of-devpi';
export const READER = { user: USER, password: PASSWORD };

export const stage = (projects: Record<string, FakeProject>, config: Record<string, unknown> = {}): FakeIndex => ({
  config: { type: "stage", bases: [], volatile: false, acl_upload: [USER], ...config },
  projects,
});

export function wheel(of: Wheel, more: Partial<HeldFile> = {}): HeldFile {
  const { filename, bytes } = wheelOf(of);
  return { filename, bytes, ...more };
}

export function sdist(of: Wheel, more: Partial<HeldFile> = {}): HeldFile {
  return { ...sdistOf(of), ...more };
}

export async function startFakeDevpi(
  t: TestContext,
  indexes: Record<string, FakeIndex>,
  answer: Answer = () => false,
): Promise<FakeDevpi> {
  const send = (res: ServerResponse, status: number, body: object): void =>
    void res.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  const result = (res: ServerResponse, type: string, of: object): void => send(res, 200, { type, result: of });
  const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");
  const filePath = (index: string, { filename, bytes }: HeldFile): string =>
    `/${index}/+f/${sha256(bytes).slice(0, 3)}/${sha256(bytes).slice(3, 16)}/${filename}`;
  const linkOf = (index: string, file: HeldFile): object => ({
    rel: "releasefile",
    href: `${fake.url}${filePath(index, file)}`,
    hash_spec: `sha256=${sha256(file.bytes)}`,
    hashes: { sha256: sha256(file.bytes) },
    log: file.when === undefined ? [] : [{ what: "upload", who: USER, when: file.when, dst: index }],
    ...file.link,
  });
  const users = (): object => {
    const found: Record<string, { username: string; indexes: Record<string, object> }> = {};
    for (const [name, { config }] of Object.entries(fake.indexes)) {
      const [user = "", index = ""] = name.split("/");
      (found[user] ??= { username: user, indexes: {} }).indexes[index] = config;
    }
    return found;
  };
  const projectOf = (index: string, name: string, project: FakeProject): object =>
    Object.fromEntries(
      Object.entries(project).map(([version, { files, data, links = [] }]) => [
        version,
        { name, version, ...data, "+links": [...files.map((file) => linkOf(index, file)), ...links] },
      ]),
    );
  const sendFile = (res: ServerResponse, path: string): boolean => {
    for (const [index, { projects = {} }] of Object.entries(fake.indexes))
      for (const file of Object.values(projects).flatMap((project) =>
        Object.values(project).flatMap(({ files }) => files),
      ))
        if (filePath(index, file) === path) {
          res.writeHead(200, { "content-type": "application/octet-stream" }).end(file.bytes);
          return true;
        }
    return false;
  };
  const server = createServer((req, res) => {
    const path = decodeURIComponent(new URL(req.url ?? "", fake.url).pathname);
    fake.seen.push(`${req.method} ${path}`);
    if (fake.answer(req, res, path)) return;
    if (req.method === "POST" && path === "/+login") {
      void text(req).then((body) => {
        const { user, password } = JSON.parse(body) as Record<string, string>;
        if (user === USER && password === PASSWORD)
          send(res, 200, { type: "proxyauth", message: "login successful", result: { password: TOKEN } });
        else send(res, 401, { message: `user '${user}' could not be authenticated` });
      });
      return;
    }
    if (req.headers.authorization !== `Basic ${Buffer.from(`${USER}:${TOKEN}`).toString("base64")}`)
      return send(res, 401, { message: "authentication required" });
    if (path.includes("/+f/") && sendFile(res, path)) return;
    if (path === "/") return result(res, "list:userconfig", users());
    const [, name = "", project] = /^\/([^/]+\/[^/]+)(?:\/([^/]+))?$/.exec(path) ?? [];
    const index = fake.indexes[name];
    if (index === undefined) return send(res, 404, { message: `no such stage ${name}` });
    const { config, projects = {} } = index;
    if (project === undefined)
      return result(res, "indexconfig", { ...config, projects: Object.keys(projects).toSorted() });
    const held = projects[project];
    if (held === undefined) return send(res, 404, { message: `no project '${project}'` });
    result(res, "projectconfig", projectOf(name, project, held));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const fake: FakeDevpi = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    indexes,
    seen: [],
    answer,
  };
  return fake;
}
