import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** What a release in the folder is made of. */
interface Release {
  /** When its files were put there, in milliseconds since 1970. Defaults to a year ago. */
  publishMs?: number;
  jar?: string | Uint8Array;
  /** XML in the POM, such as `<licenses>`. Defaults to none. */
  pom?: string;
  /** Which sums are beside the files. Defaults to sha1. */
  sums?: readonly string[];
}

/** A Maven repository as a web server has it that serves a folder: with Last-Modified, and nothing else. */
export interface MavenUpstream {
  url: string;
  folder: string;
  /** The methods and paths of all requests. */
  seen: string[];
  /** Called with each request first. Returns true when it has answered it, or will. */
  intercept: (req: IncomingMessage, res: ServerResponse) => boolean;
  /** Writes a file with its sums. */
  put(path: string, content: string | Uint8Array, options?: Pick<Release, "publishMs" | "sums">): void;
  /** Puts the POM and the jar of a release, and lists it in the metadata of its artifact. */
  release(groupId: string, artifactId: string, version: string, release?: Release): void;
  close(): Promise<void>;
}

const YEAR_MS = 365 * 24 * 3_600_000;

/** Starts one on loopback, on an empty folder. */
export async function startMavenUpstream(): Promise<MavenUpstream> {
  const folder = mkdtempSync(join(tmpdir(), "moorage-maven-"));
  const versions = new Map<string, { list: string[]; publishMs: number }>();
  const server = createServer((req, res) => {
    upstream.seen.push(`${req.method} ${req.url}`);
    if (!upstream.intercept(req, res)) answer(folder, req, res);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const upstream: MavenUpstream = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/maven2/`,
    folder,
    seen: [],
    intercept: () => false,
    put(path, content, { publishMs = Date.now() - YEAR_MS, sums = ["sha1"] } = {}) {
      const write = (at: string, bytes: string | Uint8Array): void => {
        mkdirSync(dirname(at), { recursive: true });
        writeFileSync(at, bytes);
        utimesSync(at, publishMs / 1000, publishMs / 1000);
      };
      write(join(folder, path), content);
      for (const sum of sums) write(join(folder, `${path}.${sum}`), createHash(sum).update(content).digest("hex"));
    },
    release(groupId, artifactId, version, { publishMs = Date.now() - YEAR_MS, pom = "", jar, sums = ["sha1"] } = {}) {
      const place = `${groupId.replaceAll(".", "/")}/${artifactId}`;
      const known = versions.get(place) ?? { list: [], publishMs: 0 };
      known.list.push(version);
      known.publishMs = Math.max(known.publishMs, publishMs);
      versions.set(place, known);
      const project = `<project><groupId>${groupId}</groupId><artifactId>${artifactId}</artifactId><version>${version}</version>${pom}</project>`;
      const file = `${place}/${version}/${artifactId}-${version}`;
      upstream.put(`${file}.pom`, project, { publishMs, sums });
      upstream.put(`${file}.jar`, jar ?? `jar of ${artifactId} ${version}`, { publishMs, sums });
      const listed = known.list.map((one) => `<version>${one}</version>`).join("");
      upstream.put(
        `${place}/maven-metadata.xml`,
        `<metadata><groupId>${groupId}</groupId><artifactId>${artifactId}</artifactId><versioning><latest>${version}</latest><release>${version}</release><versions>${listed}</versions><lastUpdated>20260101000000</lastUpdated></versioning></metadata>`,
        { publishMs: known.publishMs },
      );
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    },
  };
  return upstream;
}

function answer(folder: string, { method, url = "", headers }: IncomingMessage, res: ServerResponse): void {
  const path = join(folder, decodeURIComponent(url.replace(/^\/maven2\//, "")));
  const found = path.startsWith(folder) ? statSync(path, { throwIfNoEntry: false }) : undefined;
  if (found === undefined || !found.isFile()) return void res.writeHead(404).end("not here");
  const modified = found.mtime.toUTCString();
  if (headers["if-modified-since"] === modified) return void res.writeHead(304).end();
  res.writeHead(200, { "content-length": found.size, "last-modified": modified });
  res.end(method === "HEAD" ? undefined : readFileSync(path));
}
