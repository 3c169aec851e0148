// A registry of npm and an index of Python projects in one, which has any package with a name of the benchmark: what
// others are behind when they have nothing yet. Reads its port as JSON from standard input, and answers until it is
// stopped.
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { LATEST, manifestOf, npmTarball, versionsOf, wheel } from "./library-fixtures.ts";
import { createLru } from "../packages/kernel/src/lib/lru.ts";

/** Where it serves npm packages, and Python projects. */
export const UPSTREAM_PATHS = { npm: "/npm", pypi: "/simple/" } as const;

const MAX_KEPT = 5_000;
const OLD = "2024-01-01T00:00:00.000Z";
const NAME = /^[a-z0-9-]+$/;
const made = createLru<string, Buffer>(MAX_KEPT);

/** The tarball or the wheel of the latest version. */
function fileOf(kind: "npm" | "pypi", name: string): Buffer {
  const key = `${kind} ${name}`;
  const known = made.get(key) ?? (kind === "npm" ? npmTarball(name, LATEST) : wheel(name, LATEST).bytes);
  made.set(key, known);
  return known;
}

const sum = (algorithm: string, bytes: Buffer | string, encoding: "hex" | "base64" = "hex"): string =>
  createHash(algorithm).update(bytes).digest(encoding);

/** Nobody asks for the files of versions before the latest: their sums are of their names. */
function packument(name: string, base: string): object {
  const entries = versionsOf().map((version) => {
    const bytes = version === LATEST ? fileOf("npm", name) : `${name} ${version}`;
    const dist = {
      integrity: `sha512-${sum("sha512", bytes, "base64")}`,
      shasum: sum("sha1", bytes),
      tarball: `${base}/npm/${name}/-/${name}-${version}.tgz`,
    };
    return [version, { ...manifestOf(name, version), _id: `${name}@${version}`, dist }] as const;
  });
  return {
    _id: name,
    name,
    "dist-tags": { latest: LATEST },
    versions: Object.fromEntries(entries),
    time: { created: OLD, modified: OLD, ...Object.fromEntries(versionsOf().map((version) => [version, OLD])) },
  };
}

function page(name: string, base: string): object {
  const files = versionsOf().map((version) => {
    const filename = `${name.replaceAll("-", "_")}-${version}-py3-none-any.whl`;
    const isLatest = version === LATEST;
    const bytes = isLatest ? fileOf("pypi", name) : `${name} ${version}`;
    const metadataSum = { sha256: sum("sha256", isLatest ? wheel(name, version).metadata : version) };
    return {
      filename,
      url: `${base}/files/${filename}`,
      hashes: { sha256: sum("sha256", bytes) },
      "requires-python": ">=3.9",
      "upload-time": OLD,
      "core-metadata": metadataSum,
      "dist-info-metadata": metadataSum,
      yanked: false,
    };
  });
  return { meta: { "api-version": "1.1" }, name, versions: versionsOf(), files };
}

function answerOf(path: string, base: string): { type: string; body: Buffer } | undefined {
  const [kind = "", name = "", dash, file] = path.split("/").slice(1);
  const json = (make: () => object, type = "application/json"): { type: string; body: Buffer } => {
    const body = made.get(path) ?? Buffer.from(JSON.stringify(make()));
    made.set(path, body);
    return { type, body };
  };
  const bytes = (body: Buffer): { type: string; body: Buffer } => ({ type: "application/octet-stream", body });
  if (!NAME.test(name) && kind !== "files") return undefined;
  if (kind === "npm" && dash === undefined) return json(() => packument(name, base));
  if (kind === "npm" && dash === "-") return file === `${name}-${LATEST}.tgz` ? bytes(fileOf("npm", name)) : undefined;
  if (kind === "simple") return json(() => page(name, base), "application/vnd.pypi.simple.v1+json");
  const [, project] = /^([a-z0-9_]+)-1\.\d+\.0-py3-none-any\.whl(?:\.metadata)?$/.exec(name) ?? [];
  if (kind !== "files" || project === undefined) return undefined;
  const normalized = project.replaceAll("_", "-");
  return name.endsWith(".metadata")
    ? bytes(Buffer.from(wheel(normalized, LATEST).metadata))
    : bytes(fileOf("pypi", normalized));
}

if (import.meta.main) {
  let text = "";
  for await (const chunk of process.stdin) text += String(chunk);
  const { port } = JSON.parse(text) as { port: number };
  const base = `http://127.0.0.1:${port}`;
  createServer((request, response) => {
    const path = decodeURIComponent((request.url ?? "/").split("?", 1)[0] ?? "");
    const found = path === "/-/ping" ? { type: "text/plain", body: Buffer.from("ok") } : answerOf(path, base);
    if (found === undefined) return void response.writeHead(404).end();
    response.writeHead(200, { "content-type": found.type, "content-length": found.body.length });
    response.end(request.method === "HEAD" ? undefined : found.body);
  }).listen(port, "127.0.0.1");
}
