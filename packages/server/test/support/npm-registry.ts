import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { tarballOf } from "./npm.ts";

/** What answers a path in place of the registry. */
type Answering = (req: IncomingMessage, res: ServerResponse) => void;

/** A small npm registry on loopback, which answers as the test says and notes what it was asked. */
export interface NpmRegistry {
  url: string;
  asked: { path: string; headers: IncomingHttpHeaders; status: number }[];
  /** Paths that are answered by the test; `*` for all. */
  answers: Map<string, Answering>;
  /** Packages by name: their packuments, which a test may change. */
  packages: Map<string, RegistryPackument>;
  files: Map<string, Buffer>;
  /** Publishes a version. */
  publish(name: string, version: string, options?: RegistryPublish): Buffer;
  /** How often the path was asked for. */
  count(path: string): number;
  /** Takes no connections from now on. */
  stop(): Promise<void>;
}

interface RegistryPublish {
  manifest?: object;
  /** When, by the registry. Defaults to now. */
  time?: string;
  files?: Record<string, string>;
  /** Fields of `dist` that are other than they should be; undefined leaves them out. */
  dist?: Record<string, unknown>;
}

interface RegistryPackument {
  name: string;
  "dist-tags": Record<string, string>;
  versions: Record<string, Record<string, unknown>>;
  time: Record<string, string>;
  readme: string;
}

/** The path of a version's tarball. */
export function tarballPath(name: string, version: string): string {
  return `/${name}/-/${name.slice(name.indexOf("/") + 1)}-${version}.tgz`;
}

export async function startNpmRegistry(t: Pick<TestContext, "after">): Promise<NpmRegistry> {
  const asked: NpmRegistry["asked"] = [];
  const answers: NpmRegistry["answers"] = new Map();
  const packages: NpmRegistry["packages"] = new Map();
  const files: NpmRegistry["files"] = new Map();
  const server = createServer((req, res) => {
    const path = req.url ?? "";
    const note = { path, headers: req.headers, status: 0 };
    asked.push(note);
    res.on("close", () => (note.status = res.statusCode));
    const answering = answers.get(path) ?? answers.get("*");
    if (answering !== undefined) return answering(req, res);
    const file = files.get(path);
    if (file !== undefined) return void res.writeHead(200, { "content-length": file.length }).end(file);
    const packument = packages.get(decodeURIComponent(path.slice(1)));
    if (packument === undefined) return void res.writeHead(404).end("{}");
    const text = JSON.stringify(packument);
    const etag = `"${createHash("sha1").update(text).digest("hex")}"`;
    if (req.headers["if-none-match"] === etag) return void res.writeHead(304, { etag }).end();
    res.writeHead(200, { "content-type": "application/json", etag }).end(text);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  t.after(stop);
  return {
    url,
    asked,
    answers,
    packages,
    files,
    publish(name, version, { manifest = {}, time = new Date().toISOString(), files: content, dist = {} } = {}) {
      const whole = { name, version, description: `${name} of the upstream`, license: "MIT", ...manifest };
      const bytes = tarballOf(whole, content);
      files.set(tarballPath(name, version), bytes);
      const document = packages.get(name) ?? { name, "dist-tags": {}, versions: {}, time: {}, readme: "# Long" };
      packages.set(name, document);
      document["dist-tags"]["latest"] = version;
      document.time[version] = time;
      document.versions[version] = {
        ...whole,
        _id: `${name}@${version}`,
        dist: {
          integrity: `sha512-${createHash("sha512").update(bytes).digest("base64")}`,
          shasum: createHash("sha1").update(bytes).digest("hex"),
          tarball: `${url}${tarballPath(name, version)}`,
          ...dist,
        },
      };
      return bytes;
    },
    count: (path) => asked.filter((request) => request.path === path).length,
    stop,
  };
}
