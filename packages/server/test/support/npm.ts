import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync, mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import path, { join } from "node:path";
import type { TestContext } from "node:test";
import { gzipSync } from "node:zlib";
import type { Answer, Platform } from "./platform.ts";
import { tarOf } from "./catalog/archives.ts";

/** A package tarball with these files below `package/`, beside its package.json. */
export function tarballOf(
  manifest: object,
  files: Record<string, string> = { "index.js": "module.exports = 1;\n" },
): Buffer {
  const all = { "package.json": JSON.stringify(manifest), ...files };
  return gzipSync(tarOf(Object.entries(all).map(([name, content]) => ({ path: `package/${name}`, content }))));
}

/** The document that `npm publish` sends. */
export function publishDocument(
  name: string,
  version: string,
  { manifest = {}, tags = { latest: version }, tarball }: { manifest?: object; tags?: object; tarball?: Buffer } = {},
): Record<string, unknown> {
  const whole = { name, version, description: `${name} says hello`, ...manifest };
  const bytes = tarball ?? tarballOf(whole);
  const dist = {
    integrity: `sha512-${createHash("sha512").update(bytes).digest("base64")}`,
    shasum: createHash("sha1").update(bytes).digest("hex"),
    tarball: `http://elsewhere.example/${name}/-/x.tgz`,
  };
  return {
    _id: name,
    name,
    "dist-tags": tags,
    versions: { [version]: { ...whole, _id: `${name}@${version}`, dist } },
    access: null,
    _attachments: {
      [`${name}-${version}.tgz`]: {
        content_type: "application/octet-stream",
        data: bytes.toString("base64"),
        length: bytes.length,
      },
    },
  };
}

/** A path of a package below a group's registry. */
export function npmPath(group: string, name: string): string {
  return `/npm/${group}/${name.replace("/", "%2f")}`;
}

/** Publishes a version as `npm publish` does. */
export async function publishNpm(
  platform: Platform,
  group: string,
  name: string,
  version: string,
  options: Parameters<typeof publishDocument>[2] & { token?: string } = {},
): Promise<Answer> {
  const { token = await platform.token(), ...rest } = options;
  return await platform.call("PUT", npmPath(group, name), { token, body: publishDocument(name, version, rest) });
}

/** The npm that came with Node, in a folder of its own: no other configuration and no other registry is used. */
export interface Npm {
  folder: string;
  run(args: readonly string[], options?: { cwd?: string }): Promise<{ code: number; stdout: string; stderr: string }>;
  /** Makes a folder with a package in it. */
  folderOf(name: string, manifest: object, files?: Record<string, string>): string;
}

const TIMEOUT_MS = 120_000;

/** `auth`: lines of .npmrc that authenticate, with `//host/path/` for the registry. */
export function openNpm(t: TestContext, registry: string, auth: (place: string) => string): Npm {
  const folder = mkdtempSync(join(tmpdir(), "moorage-npm-"));
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  const userconfig = join(folder, ".npmrc");
  const place = registry.replace(/^http:/, "");
  writeFileSync(userconfig, `registry=${registry}\n${auth(place)}\nupdate-notifier=false\nfund=false\n`);
  const env = {
    PATH: `${path.dirname(process.execPath)}:${process.env["PATH"] ?? ""}`,
    HOME: folder,
    npm_config_userconfig: userconfig,
    npm_config_globalconfig: join(folder, "none"),
    npm_config_cache: join(folder, "cache"),
    npm_config_fetch_retries: "0",
  };
  return {
    folder,
    run: (args, { cwd = folder } = {}) =>
      new Promise((resolve) => {
        execFile("npm", [...args], { cwd, env, timeout: TIMEOUT_MS }, (error, stdout, stderr) => {
          const code = error === null ? 0 : typeof error.code === "number" ? error.code : 1;
          resolve({ code, stdout, stderr });
        });
      }),
    folderOf(name, manifest, files = {}) {
      const made = join(folder, name);
      mkdirSync(made, { recursive: true });
      for (const [file, content] of Object.entries({ "package.json": JSON.stringify(manifest), ...files }))
        writeFileSync(join(made, file), content);
      return made;
    },
  };
}
