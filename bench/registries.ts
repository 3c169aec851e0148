import type { ChildProcess } from "node:child_process";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort, SERVER_CORE, start, stop, untilAnswers } from "./processes.ts";

const START_TIMEOUT_MS = 60_000;
const REQUEST_TIMEOUT_MS = 30_000;
const LAUNCHER = new URL("../packages/cli/bin/moorage.js", import.meta.url).pathname;
const TTL = "1h";

/** A registry under test: ours or the peer. `authorization` is empty where none is asked for. */
export interface Registry { name: string; process: ChildProcess; port: number; authorization: string }

/** Ours, with what the first start made. */
export interface Moorage extends Registry { organization: { uid: string; name: string }; platformAuthorization: string; readyMs: number }

/** Starts Moorage on a data folder, on the server's core, with its access log off as the peer's is. */
export async function startMoorage(dataDir: string): Promise<Moorage> {
  const port = await freePort();
  const env = { MOORAGE_HOST: "127.0.0.1", MOORAGE_PORT: String(port), MOORAGE_DATA_DIR: dataDir, MOORAGE_LOG_LEVEL: "warn" };
  const began = performance.now();
  const child = start(SERVER_CORE, process.execPath, [LAUNCHER, "serve"], { env });
  try {
    await untilAnswers(`http://127.0.0.1:${port}/readyz`, child, START_TIMEOUT_MS);
    const readyMs = performance.now() - began;
    const bootstrap = JSON.parse(readFileSync(join(dataDir, "bootstrap.json"), "utf8")) as { organization: { uid: string; name: string } };
    const token = (audience: string): string => {
      const { status, stdout, stderr } = spawnSync(process.execPath, [LAUNCHER, "token", "--audience", audience, "--ttl", TTL], { env: { ...process.env, ...env }, encoding: "utf8" });
      if (status !== 0) throw new Error(`moorage token failed: ${stderr}`);
      return stdout.trim();
    };
    return {
      name: "moorage", process: child, port, readyMs, organization: bootstrap.organization,
      authorization: `authorization: Bearer ${token("registry")}\r\n`, platformAuthorization: `authorization: Bearer ${token("platform")}\r\n`,
    };
  } catch (error) {
    await stop(child);
    throw error;
  }
}

/** Starts Debian's docker-registry on the server's core, if it is installed. */
export async function startPeer(folder: string): Promise<Registry | undefined> {
  if (spawnSync("docker-registry", ["--version"]).status !== 0) return undefined;
  const port = await freePort();
  const config = join(folder, "docker-registry.yml");
  writeFileSync(config, [
    "version: 0.1", "log: {level: error, accesslog: {disabled: true}}", `http: {addr: "127.0.0.1:${port}"}`,
    `storage: {filesystem: {rootdirectory: ${JSON.stringify(join(folder, "docker-registry"))}}, cache: {blobdescriptor: inmemory}}`, "",
  ].join("\n"));
  const child = start(SERVER_CORE, "docker-registry", ["serve", config]);
  try {
    await untilAnswers(`http://127.0.0.1:${port}/v2/`, child, START_TIMEOUT_MS);
  } catch (error) {
    await stop(child);
    throw error;
  }
  return { name: "docker-registry", process: child, port, authorization: "" };
}

/** A request to a registry outside of any measuring. Throws for any status but 2xx. */
export async function send(registry: Registry, method: string, path: string, body?: { type: string; content: Buffer<ArrayBuffer> }): Promise<Response> {
  const headers: Record<string, string> = body ? { "content-type": body.type } : {};
  if (registry.authorization !== "") headers["authorization"] = registry.authorization.slice("authorization: ".length).trim();
  const url = new URL(path, `http://127.0.0.1:${registry.port}`);
  const response = await fetch(url, { method, headers, ...(body && { body: body.content }), signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) });
  if (!response.ok) throw new Error(`${registry.name}: ${method} ${path} answered ${response.status}: ${(await response.text()).slice(0, 300)}`);
  return response;
}

function sha256(content: Buffer): string {
  return `sha256:${createHash("sha256").update(content).digest("hex")}`;
}

/** Where an upload that was just begun goes on, with the digest to be, as a path of the request line. */
export async function beginUpload(registry: Registry, repository: string, digest: string): Promise<string> {
  const response = await send(registry, "POST", `/v2/${repository}/blobs/uploads/`);
  await response.body?.cancel();
  const location = new URL(response.headers.get("location") ?? "", `http://127.0.0.1:${registry.port}`);
  return `${location.pathname}${location.search}${location.search === "" ? "?" : "&"}digest=${digest}`;
}

/** Pushes an image of one small layer under the tag; answers its manifest's digest. */
export async function pushImage(registry: Registry, repository: string, tag: string): Promise<string> {
  const push = async (content: Buffer<ArrayBuffer>): Promise<{ digest: string; size: number }> => {
    const digest = sha256(content);
    const response = await send(registry, "PUT", await beginUpload(registry, repository, digest), { type: "application/octet-stream", content });
    await response.body?.cancel();
    return { digest, size: content.length };
  };
  const config = { mediaType: "application/vnd.oci.image.config.v1+json", ...await push(Buffer.from(`{"architecture":"amd64","os":"linux","rootfs":{"type":"layers","diff_ids":[]}}`)) };
  const layer = { mediaType: "application/vnd.oci.image.layer.v1.tar+gzip", ...await push(Buffer.alloc(4096, "moorage")) };
  const type = "application/vnd.oci.image.manifest.v1+json";
  const content = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: type, config, layers: [layer] }));
  const response = await send(registry, "PUT", `/v2/${repository}/manifests/${tag}`, { type, content });
  await response.body?.cancel();
  return sha256(content);
}
