import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { eventually } from "../../../server/test/support/eventually.ts";
import {
  digestOf,
  type Installation,
  startInstallation,
  temporaryFolder,
} from "../../../server/test/support/installation.ts";
import { freePort } from "../../../server/test/support/unused-port.ts";
import { loadConfig } from "../../../kernel/src/config/index.ts";

const PROXIED = { MOORAGE_TRUSTED_PROXIES: "127.0.0.1", MOORAGE_BLOBS_INTERNAL_PATH: "/-/blobs/" };
const LARGE = "large ".repeat(20_000);
const DIGEST = digestOf(LARGE);

async function pushed(moorage: Installation): Promise<string> {
  const name = `${moorage.bootstrap.organization.name}/files`;
  assert.equal(await moorage.pushBlob(name, LARGE), DIGEST);
  await moorage.pushBlob(name, "small");
  return `/v2/${name}/blobs/`;
}

test("large content that is asked for through the proxy is named, and everything else is sent", async (t) => {
  const moorage = await startInstallation(t, PROXIED);
  const path = await pushed(moorage);
  const ask = (method: string, digest: string, headers: Record<string, string> = {}) =>
    moorage.ask(method, path + digest, { token: moorage.registry, headers });

  const named = await ask("GET", DIGEST);
  const file = named.headers.get("x-accel-redirect") ?? "";
  const hex = DIGEST.slice("sha256:".length);
  assert.match(file, new RegExp(`^/-/blobs/sha256/${hex.slice(0, 2)}/${hex}\\.[0-9a-f]{16}$`));
  assert.deepEqual([named.status, named.text], [200, ""]);
  assert.equal(named.headers.get("docker-content-digest"), DIGEST);
  assert.equal(named.headers.get("content-type"), "application/octet-stream");

  const head = await ask("HEAD", DIGEST);
  assert.deepEqual(
    [head.headers.get("x-accel-redirect"), head.headers.get("content-length")],
    [null, String(LARGE.length)],
  );
  assert.equal((await ask("GET", digestOf("small"))).text, "small");
  assert.equal((await ask("GET", DIGEST, { "if-none-match": `"${DIGEST}"` })).status, 304);
  assert.equal((await moorage.ask("GET", path + DIGEST)).status, 401);

  // What is lost is not named: the proxy could only say that there is no such file.
  rmSync(join(moorage.dataDir, "blobs", file.slice("/-/blobs/".length)));
  const lost = await ask("GET", DIGEST);
  assert.deepEqual([lost.status, lost.headers.get("x-accel-redirect")], [404, null]);
});

test("who comes without the proxy gets the content itself", async (t) => {
  const moorage = await startInstallation(t, { ...PROXIED, MOORAGE_TRUSTED_PROXIES: "192.0.2.1" });
  const path = await pushed(moorage);
  const headers = { "x-forwarded-for": "192.0.2.1", "x-real-ip": "192.0.2.1" };
  const { text, headers: answered } = await moorage.ask("GET", path + DIGEST, { token: moorage.registry, headers });
  assert.equal(answered.get("x-accel-redirect"), null);
  assert.equal(digestOf(text), DIGEST);
});

test("the setting is refused where no proxy is trusted, where files are on S3, and for what is no path", () => {
  const refused = (env: Record<string, string>): void => {
    assert.throws(() => loadConfig({ ...PROXIED, ...env }), /MOORAGE_BLOBS_INTERNAL_PATH: /);
  };
  refused({ MOORAGE_TRUSTED_PROXIES: "" });
  refused({ MOORAGE_BLOBS_URL: "s3://bucket?endpoint=http://127.0.0.1:9000" });
  for (const path of ["-/blobs/", "/-/blobs", "/../blobs/", "/a b/", "/"])
    refused({ MOORAGE_BLOBS_INTERNAL_PATH: path });
});

test("nginx sends the whole content and parts of it, and nobody reaches the files by their path", async (t) => {
  if (spawnSync("nginx", ["-v"]).error !== undefined) return t.skip("no nginx on this machine");
  const moorage = await startInstallation(t, PROXIED);
  const path = await pushed(moorage);
  const url = await startNginx(t, moorage);
  const headers = { authorization: `Bearer ${moorage.registry}` };
  const ask = (target: string, more: Record<string, string> = {}): Promise<Response> =>
    fetch(url + target, { headers: { ...headers, ...more }, signal: AbortSignal.timeout(30_000) });

  const whole = await ask(path + DIGEST);
  assert.equal(digestOf(await whole.text()), DIGEST);
  for (const [name, value] of [
    ["docker-content-digest", DIGEST],
    ["etag", `"${DIGEST}"`],
    ["content-type", "application/octet-stream"],
    ["content-length", String(LARGE.length)],
    ["x-accel-redirect", null],
  ] as const)
    assert.equal(whole.headers.get(name), value, name);
  const part = await ask(path + DIGEST, { range: "bytes=6-11" });
  assert.deepEqual([part.status, await part.text()], [206, LARGE.slice(6, 12)]);
  assert.equal(part.headers.get("content-range"), `bytes 6-11/${LARGE.length}`);
  const small = await ask(path + digestOf("small"));
  assert.equal(await small.text(), "small");

  const named = await moorage.ask("GET", path + DIGEST, { token: moorage.registry });
  const inner = await ask(named.headers.get("x-accel-redirect") ?? "/");
  assert.equal(inner.status, 404);
  await inner.body?.cancel();
  const { status } = await fetch(url + path + DIGEST, { signal: AbortSignal.timeout(30_000) });
  assert.equal(status, 401);
});

/** Starts nginx before the server, as docs/deploy.md has it. It ends with the test. */
async function startNginx(t: TestContext, moorage: Installation): Promise<string> {
  const folder = temporaryFolder(t);
  const port = await freePort();
  mkdirSync(join(folder, "logs"));
  chmodSync(folder, 0o755);
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  );
  writeFileSync(
    join(folder, "nginx.conf"),
    `${process.getuid?.() === 0 ? "user root;" : ""}
    daemon off; pid ${folder}/pid; error_log stderr;
    events {}
    http {
      access_log off; ${temporary.join(" ")}
      server {
        listen 127.0.0.1:${port};
        client_max_body_size 0;
        location / {
          proxy_pass ${moorage.url};
          proxy_set_header Host $http_host;
          proxy_request_buffering off;
          proxy_buffering off;
        }
        location /-/blobs/ {
          internal;
          alias ${moorage.dataDir}/blobs/;
          etag off;
          add_header ETag $upstream_http_etag;
          add_header Docker-Content-Digest $upstream_http_docker_content_digest;
        }
      }
    }`,
  );
  const nginx = spawn("nginx", ["-p", folder, "-c", join(folder, "nginx.conf")], { stdio: "ignore" });
  const ended = once(nginx, "exit");
  t.after(async () => {
    nginx.kill("SIGTERM");
    await ended;
  });
  const url = `http://127.0.0.1:${port}`;
  const ready = (): Promise<boolean> =>
    fetch(`${url}/readyz`, { signal: AbortSignal.timeout(1_000) }).then(({ ok }) => ok);
  await eventually(() => ready().catch(() => false));
  return url;
}
