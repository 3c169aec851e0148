// Upstream registries for .ci/libraries-upstreams.sh, on loopback:
//
//   node .ci/upstreams.ts FOLDER TARBALLS MAVEN
//
// verdaccio, with the npm tarballs of that folder published to it; devpi-server, empty; a Maven repository that is a
// folder. Prints one line of JSON with their URLs, and ends them all on SIGTERM.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { createReadStream, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { join, normalize } from "node:path";
import { startDevpi, startVerdaccio } from "../bench/library-peers.ts";
import { stopAll } from "../bench/processes.ts";
import { send } from "../bench/registries.ts";

const [folder = "", tarballs = "", maven = ""] = process.argv.slice(2);
/** The version that is young; all others were published long ago. */
const YOUNG = /^is-number-7/;
const OLD = "2020-01-01T00:00:00.000Z";

interface Manifest {
  name: string;
  version: string;
}

/** Publishes a real tarball as npm does. */
async function publish(registry: NonNullable<Awaited<ReturnType<typeof startVerdaccio>>>, file: string): Promise<void> {
  const bytes = readFileSync(join(tarballs, file));
  const text = execFileSync("tar", ["-xzOf", join(tarballs, file), "package/package.json"], { encoding: "utf8" });
  const manifest = JSON.parse(text) as Manifest;
  const { name, version } = manifest;
  const dist = {
    integrity: `sha512-${createHash("sha512").update(bytes).digest("base64")}`,
    shasum: createHash("sha1").update(bytes).digest("hex"),
    tarball: `http://registry.example/${name}/-/${name}-${version}.tgz`,
  };
  const attachment = { content_type: "application/octet-stream", data: bytes.toString("base64"), length: bytes.length };
  const document = {
    _id: name,
    name,
    "dist-tags": { latest: version },
    versions: { [version]: { ...manifest, _id: `${name}@${version}`, dist } },
    _attachments: { [`${name}-${version}.tgz`]: attachment },
  };
  const content = Buffer.from(JSON.stringify(document));
  const answer = await send(registry, "PUT", `/${name.replace("/", "%2f")}`, { type: "application/json", content });
  await answer.body?.cancel();
  // verdaccio takes the time of the upload; it reads this file at each request.
  const stored = join(folder, "verdaccio/storage", name, "package.json");
  const kept = JSON.parse(readFileSync(stored, "utf8")) as { time: Record<string, string> };
  if (!YOUNG.test(file)) kept.time[version] = OLD;
  writeFileSync(stored, JSON.stringify(kept));
}

const files = createServer((request, response) => {
  const path = join(maven, normalize(decodeURIComponent(new URL(request.url ?? "/", "http://localhost").pathname)));
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isFile() !== true) return void response.writeHead(404).end();
  response.writeHead(200, { "content-length": found.size, "last-modified": new Date(OLD).toUTCString() });
  if (request.method === "HEAD") response.end();
  else createReadStream(path).pipe(response);
}).listen(0, "127.0.0.1");
await once(files, "listening");

try {
  const [verdaccio, devpi] = [await startVerdaccio(folder), await startDevpi(folder)];
  if (verdaccio !== undefined) for (const file of readdirSync(tarballs).toSorted()) await publish(verdaccio, file);
  const at = (port: number, path = ""): string => `http://127.0.0.1:${port}${path}`;
  const urls = {
    npm: verdaccio && at(verdaccio.port),
    pypi: devpi && at(devpi.port, `${devpi.base}/+simple`),
    upload: devpi && at(devpi.port, `${devpi.base}/`),
    maven: at((files.address() as AddressInfo).port),
  };
  process.stdout.write(`${JSON.stringify(urls)}\n`);
  await once(process, "SIGTERM");
} finally {
  await stopAll();
  files.close();
  files.closeAllConnections();
}
