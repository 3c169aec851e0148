import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";

/** A file that the index has, and what it says of it beside its name, its sum and its size. */
interface IndexedFile {
  filename: string;
  bytes: Uint8Array;
  metadata?: string;
  provenance?: string;
  /** ISO 8601. Defaults to the year 2020; null for none. */
  uploadTime?: string | null;
  requiresPython?: string;
  yanked?: string;
  /** What it says as the SHA-256. Defaults to the right one. */
  sha256?: string;
  metadataSha256?: string;
}

/** An index of Python projects on loopback, as PyPI answers: PEP 503, 691, 700, 714 and 740. */
export interface PythonIndex {
  /** Of the simple API, without a slash at the end. */
  url: string;
  /** The form of its pages. Defaults to json. */
  form: "json" | "html";
  /** The paths of all requests. */
  asked: string[];
  count(path: string): number;
  /** Adds the file to the project, in place of one with its name. */
  publish(project: string, file: IndexedFile): void;
  /** Called with each request first. Returns true when it has answered it, or never will. */
  intercept: (req: IncomingMessage, res: ServerResponse) => boolean;
  stop(): Promise<void>;
}

const sha256 = (bytes: string | Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** Starts it; it is closed with the test. */
export async function startPythonIndex(t: Pick<TestContext, "after">): Promise<PythonIndex> {
  const projects = new Map<string, Map<string, IndexedFile>>();
  const server = createServer((req, res) => {
    const path = req.url ?? "/";
    index.asked.push(path);
    if (index.intercept(req, res)) return;
    const [, part, name = ""] = path.split("/");
    const project = part === "simple" ? projects.get(name) : undefined;
    const body = project === undefined ? contentOf(decodeURIComponent(name)) : pageOf(name, [...project.values()]);
    if (body === undefined) return void res.writeHead(404).end();
    const etag = `"${sha256(body)}"`;
    if (req.headers["if-none-match"] === etag) return void res.writeHead(304).end();
    const type = project === undefined ? "application/octet-stream" : TYPES[index.form];
    res.writeHead(200, { "content-type": type, "content-length": body.length, etag }).end(body);
  });
  const contentOf = (name: string): Buffer | undefined => {
    for (const files of projects.values())
      for (const { filename, bytes, metadata, provenance } of files.values()) {
        if (name === filename) return Buffer.from(bytes);
        if (name === `${filename}.metadata` && metadata !== undefined) return Buffer.from(metadata);
        if (name === `${filename}.provenance` && provenance !== undefined) return Buffer.from(provenance);
      }
    return undefined;
  };
  const pageOf = (name: string, files: IndexedFile[]): Buffer =>
    Buffer.from(
      index.form === "html"
        ? `<!DOCTYPE html><title>${name}</title>${files.map(link).join("<br>")}`
        : JSON.stringify({ meta: { "api-version": "1.3" }, name, files: files.map(entry) }),
    );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const entry = (file: IndexedFile): object => ({
    filename: file.filename,
    url: `../../files/${encodeURIComponent(file.filename)}`,
    hashes: { sha256: file.sha256 ?? sha256(file.bytes) },
    size: file.bytes.length,
    "requires-python": file.requiresPython ?? null,
    yanked: file.yanked ?? false,
    "core-metadata": file.metadata === undefined ? false : { sha256: file.metadataSha256 ?? sha256(file.metadata) },
    ...(file.uploadTime !== null && { "upload-time": file.uploadTime ?? "2020-01-01T00:00:00.000000Z" }),
    provenance: file.provenance === undefined ? null : `${origin}/files/${file.filename}.provenance`,
  });
  const index: PythonIndex = {
    url: `${origin}/simple`,
    form: "json",
    asked: [],
    count: (path) => index.asked.filter((asked) => asked === path).length,
    publish(project, file) {
      const files = projects.get(project) ?? new Map<string, IndexedFile>();
      projects.set(project, files.set(file.filename, file));
    },
    intercept: () => false,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  t.after(() => index.stop());
  return index;
}

const TYPES = { json: "application/vnd.pypi.simple.v1+json", html: "text/html" };

function link({ filename, bytes, sha256: said, requiresPython }: IndexedFile): string {
  const python =
    requiresPython === undefined ? "" : ` data-requires-python="${requiresPython.replaceAll(">", "&gt;")}"`;
  return `<a href="/files/${encodeURIComponent(filename)}#sha256=${said ?? sha256(bytes)}"${python}>${filename}</a>`;
}
