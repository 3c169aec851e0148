import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { temporaryFolder } from "../../../server/test/support/installation.ts";
import { pushImage } from "../../../server/test/support/image.ts";
import type { Platform } from "../../../server/test/support/platform.ts";
import { tarOf } from "../../../server/test/support/catalog/archives.ts";

// The server runs in this process: it could not answer a program that is waited for synchronously.
const run = promisify(execFile);
const TIMEOUT_MS = 60_000;
const LABELS = { "org.example.team": "red pandas" };
const MANIFEST = "application/vnd.oci.image.manifest.v1+json";
const CONFIG = "application/vnd.oci.image.config.v1+json";
const LAYER = "application/vnd.oci.image.layer.v1.tar+gzip";

interface Descriptor {
  mediaType: string;
  digest: string;
  size: number;
}

/**
 * Pushes an image with a label by skopeo, or without it as the other tests do, which is said. `text`: what its only
 * file holds.
 */
export async function pushByClient(
  t: TestContext,
  platform: Platform,
  { name, tag, text }: { name: string; tag: string; text: string },
): Promise<void> {
  if (!(await isThere("skopeo"))) {
    t.diagnostic("pushed without a client of others: apt-get install skopeo");
    return void (await pushImage(platform, name, tag, { ...LABELS, text }));
  }
  const { host } = new URL(platform.url);
  const folder = writeLayout(temporaryFolder(t), text);
  const token = await platform.token(platform.owner, { audience: host });
  const options = ["--insecure-policy", "copy", "--dest-tls-verify=false", `--dest-registry-token=${token}`];
  await run("skopeo", [...options, `oci:${folder}:image`, `docker://${host}/${name}:${tag}`], { timeout: TIMEOUT_MS });
}

/**
 * What somebody does with a personal token who has docker alone: logs docker in by the line that the console shows, and
 * pushes. Docker pushes by its daemon: skopeo pushes with docker's log-in in place of that. Answers which programs of
 * this machine did that.
 */
export async function logInAndPush(
  t: TestContext,
  { line, host, name, tag }: { line: string; host: string; name: string; tag: string },
): Promise<"docker" | "skopeo" | "nothing"> {
  if (!(await isThere("skopeo"))) return "nothing";
  const folder = temporaryFolder(t);
  const env = { ...process.env, DOCKER_CONFIG: folder };
  const hasDocker = await isThere("docker");
  const authFile = join(folder, "config.json");
  const logIn = hasDocker
    ? line
    : line.replace("docker login", `skopeo login --tls-verify=false --authfile ${authFile}`);
  await run("sh", ["-c", logIn], { timeout: TIMEOUT_MS, env });
  const layout = writeLayout(temporaryFolder(t), name);
  const options = ["--insecure-policy", "copy", "--dest-tls-verify=false", "--dest-authfile", authFile];
  await run("skopeo", [...options, `oci:${layout}:image`, `docker://${host}/${name}:${tag}`], {
    timeout: TIMEOUT_MS,
    env,
  });
  return hasDocker ? "docker" : "skopeo";
}

async function isThere(program: string): Promise<boolean> {
  return await run(program, ["--version"], { timeout: TIMEOUT_MS }).then(
    () => true,
    () => false,
  );
}

/** An image layout of the image `image`. Source: OCI image-spec, image-layout.md. */
function writeLayout(folder: string, text: string): string {
  mkdirSync(join(folder, "blobs/sha256"), { recursive: true });
  const write = (mediaType: string, content: Buffer): Descriptor => {
    const hex = sha256(content);
    writeFileSync(join(folder, "blobs/sha256", hex), content);
    return { mediaType, digest: `sha256:${hex}`, size: content.length };
  };
  const writeJson = (mediaType: string, value: object): Descriptor =>
    write(mediaType, Buffer.from(JSON.stringify(value)));
  const layer = tarOf([{ path: "app/text", content: text }]);
  const config = writeJson(CONFIG, {
    architecture: "amd64",
    os: "linux",
    config: { Cmd: ["/app/text"], Labels: LABELS },
    rootfs: { type: "layers", diff_ids: [`sha256:${sha256(layer)}`] },
    history: [{ created_by: "COPY app /app" }],
  });
  const layers = [write(LAYER, gzipSync(layer))];
  const manifest = writeJson(MANIFEST, { schemaVersion: 2, mediaType: MANIFEST, config, layers });
  const annotations = { "org.opencontainers.image.ref.name": "image" };
  writeFileSync(join(folder, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
  writeFileSync(
    join(folder, "index.json"),
    JSON.stringify({ schemaVersion: 2, manifests: [{ ...manifest, annotations }] }),
  );
  return folder;
}

function sha256(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}
