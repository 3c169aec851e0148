// Files of libraries in S3: clients are sent to the bucket as those of images are, and the real npm follows.
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { mavenPath, putMaven } from "../support/maven.ts";
import { npmPath, openNpm, publishNpm, tarballOf } from "../support/npm.ts";
import { type Answer, type Platform, startPlatform } from "../support/platform.ts";
import { sdistOf, uploadPypi, wheelOf } from "../support/pypi.ts";
import { NO_S3, s3Url } from "../support/s3.ts";

const GROUP = "acme/bucket";

async function start(t: TestContext, blobsUrl: string): Promise<{ platform: Platform; token: string }> {
  const platform = await startPlatform({
    MOORAGE_BLOBS_URL: blobsUrl,
    MOORAGE_BLOBS_REDIRECT: "1",
    MOORAGE_BLOBS_REDIRECT_TTL: "90s",
  });
  t.after(() => platform.close());
  await platform.group(platform.organization, { name: "bucket" });
  return { platform, token: await platform.token() };
}

async function bytes(response: Response): Promise<Buffer> {
  return Buffer.from(await response.arrayBuffer());
}

if (NO_S3) {
  test("libraries in S3", { skip: NO_S3 }, () => undefined);
} else {
  test("with the setting, clients that may read a file of a library are redirected to the S3 server", async (t) => {
    const { platform, token } = await start(t, s3Url());
    // Larger than what is read whole into memory, which compression does not make small.
    const noise = randomBytes(150_000).toString("base64");
    const tarball = tarballOf({ name: "big", version: "1.0.0" }, { "index.js": noise });
    assert.equal((await publishNpm(platform, GROUP, "big", "1.0.0", { tarball })).status, 201);
    const wheel = { name: "big-py", version: "1.0", code: `noise = "${noise}"\n` };
    const sdist = { name: "big-py", version: "1.0" };
    for (const file of [wheelOf(wheel), sdistOf(sdist)])
      assert.equal((await uploadPypi(platform, GROUP, { ...file, ...sdist })).status, 200);
    const jar = randomBytes(100_000);
    const jarPath = mavenPath(GROUP, "org/example/app/1.0/app-1.0.jar");
    assert.equal((await putMaven(platform, GROUP, "org/example/app/1.0/app-1.0.jar", jar)).status, 201);
    const { filename, bytes: wheelBytes, metadata } = wheelOf(wheel);
    const files: [path: string, content: Buffer][] = [
      [`${npmPath(GROUP, "big")}/-/big-1.0.0.tgz`, tarball],
      [`/pypi/${GROUP}/simple/big-py/${filename}`, wheelBytes],
      [`/pypi/${GROUP}/simple/big-py/${filename}.metadata`, Buffer.from(metadata)],
      [`/pypi/${GROUP}/simple/big-py/${sdistOf(sdist).filename}`, sdistOf(sdist).bytes],
      [jarPath, jar],
    ];
    const get = (path: string, headers: Record<string, string> = {}, method = "GET"): Promise<Answer> =>
      platform.call(method, path, { token, headers });
    for (const [path, content] of files) {
      const sent = await get(path, { range: "bytes=1-3" });
      assert.equal(sent.status, 307, path);
      assert.equal(sent.headers["cache-control"], "no-store");
      const location = String(sent.headers["location"]);
      assert.equal(new URL(location).searchParams.get("X-Amz-Expires"), "90");
      assert.ok((await bytes(await fetch(location))).equals(content), path);
      const part = await fetch(location, { headers: { range: "bytes=1-3" } });
      assert.equal(part.status, 206);
      assert.ok((await bytes(part)).equals(content.subarray(1, 4)));
      assert.equal((await fetch(location, { method: "DELETE" })).status, 403);
      assert.equal(
        (await get(path, { "sec-fetch-site": "same-origin" })).status,
        200,
        "pages may reach no other server",
      );
      const head = await get(path, {}, "HEAD");
      assert.deepEqual([head.status, head.headers["content-length"]], [200, String(content.length)]);
      assert.equal((await get(path, { "if-none-match": String(head.headers["etag"]) })).status, 304);
      assert.equal((await platform.call("GET", path)).status, 401);
    }
    // What the server writes itself, and sums, are no files of the bucket.
    const sha1 = await get(`${jarPath}.sha1`);
    assert.deepEqual([sha1.status, sha1.text], [200, createHash("sha1").update(jar).digest("hex")]);
    const pages = [
      npmPath(GROUP, "big"),
      `/pypi/${GROUP}/simple/big-py/`,
      mavenPath(GROUP, "org/example/app/maven-metadata.xml"),
    ];
    for (const page of pages) assert.equal((await get(page)).status, 200, page);
  });

  test("npm installs through the redirect, by name and by lock file, and its token stays with this server", async (t) => {
    // Some clients send a token to all ports of a host: the bucket is reached by another name.
    const { platform, token } = await start(t, s3Url().replace("127.0.0.1", "localhost"));
    const registry = `${platform.url}/npm/${GROUP}/`;
    const npm = openNpm(t, registry, (place) => `${place}:_authToken=${token}`);
    const dependency = npm.folderOf(
      "hello",
      { name: "hello", version: "1.0.0", main: "index.js" },
      { "index.js": "1" },
    );
    const user = npm.folderOf("user", { name: "user", version: "1.0.0" });
    const run = async (args: string[], cwd: string): Promise<void> => {
      const { code, stdout, stderr } = await npm.run(args, { cwd });
      // The bucket answers 400 to a request that has another authorization beside that in its URL.
      assert.equal(code, 0, `npm ${args.join(" ")}\n${stdout}\n${stderr}`);
    };
    await run(["publish"], dependency);
    await run(["install", "hello"], user);
    await run(["cache", "clean", "--force"], user);
    await run(["ci"], user);
    const lock = JSON.parse(readFileSync(join(user, "package-lock.json"), "utf8")) as {
      packages: Record<string, { resolved: string }>;
    };
    assert.equal(lock.packages["node_modules/hello"]?.resolved, `${registry}hello/-/hello-1.0.0.tgz`);
  });
}
