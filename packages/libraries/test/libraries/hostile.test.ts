// What no good client sends, byte by byte over a socket: paths that leave the registry, names that look like others,
// bodies without an end, and two uploads of one version at a time.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { connect, type Socket } from "node:net";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { tarOf } from "../../../server/test/support/catalog/archives.ts";
import { mavenPath, pomText, putMaven } from "../../../server/test/support/maven.ts";
import { npmPath, publishDocument, publishNpm } from "../../../server/test/support/npm.ts";
import { type Answer, type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import { sdistOf, uploadPypi, wheelOf } from "../../../server/test/support/pypi.ts";
import { zipOf } from "../../../server/test/support/zip.ts";

const GROUP = "acme/team";
const MAX_FILE_BYTES = 1_000_000;
let platform: Platform;
let token = "";
before(async () => {
  platform = await startPlatform({ MOORAGE_MAX_LIBRARY_FILE_BYTES: String(MAX_FILE_BYTES) });
  token = await platform.token();
  await platform.group(platform.organization, { name: "team" });
});
after(() => platform.close());

const get = (path: string): Promise<Answer> => platform.call("GET", path, { token });

/** A connection to the server; `answer` is all that it says until it closes the connection. */
function open(): { socket: Socket; answer: Promise<string> } {
  const { hostname, port } = new URL(platform.url);
  const socket = connect(Number(port), hostname);
  let text = "";
  socket.on("data", (bytes) => (text += bytes.toString("latin1"))).on("error", () => {});
  const answer = new Promise<string>((resolve) => socket.once("close", () => resolve(text)));
  return { socket, answer };
}

function head(method: string, path: string, lines: readonly string[] = []): string {
  const own = ["Host: x", "Connection: close", `Authorization: Bearer ${token}`];
  return [`${method} ${path} HTTP/1.1`, ...own, ...lines, "", ""].join("\r\n");
}

async function statusOf(text: string): Promise<number> {
  const { socket, answer } = open();
  socket.write(text);
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(await answer)?.[1] ?? 0);
}

/** Sends chunks of a body until the server answers or closes the connection; answers the status and the bytes sent. */
async function endless(request: string, begin: string, chunk: Buffer): Promise<{ status: number; sentBytes: number }> {
  const { socket, answer } = open();
  // A connection that ends with the answer ends before it, when more bytes are on their way.
  socket.write(request.replace("Connection: close\r\n", ""));
  let sentBytes = 0;
  let isDone = false;
  socket.once("data", () => (isDone = true));
  void answer.then(() => (isDone = true));
  const write = async (bytes: Buffer): Promise<void> => {
    sentBytes += bytes.length;
    const isTaken = socket.write(Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, CRLF]));
    if (!isTaken) await Promise.race([new Promise((resolve) => socket.once("drain", resolve)), answer]);
  };
  if (begin !== "") await write(Buffer.from(begin));
  while (!isDone && sentBytes < ENOUGH_BYTES) await write(chunk);
  socket.end("0\r\n\r\n");
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(await answer)?.[1] ?? 0), sentBytes };
}

const CRLF = Buffer.from("\r\n");
const ENOUGH_BYTES = 300_000_000;
const CHUNKED = ["Transfer-Encoding: chunked"];

/** Uploads under way that are left in the data folder. */
function uploads(): string[] {
  const folder = join(platform.settings["MOORAGE_DATA_DIR"] ?? "", "blobs", "uploads");
  return existsSync(folder) ? readdirSync(folder) : [];
}

async function counts(): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const table of ["artifacts", "artifact_versions", "artifact_files"] as const) {
    const { n } = await platform.reader
      .selectFrom(table)
      .select(({ fn }) => fn.countAll<number>().as("n"))
      .executeTakeFirstOrThrow();
    found[table] = Number(n);
  }
  return found;
}

test("paths that leave the registry are no paths, however they are written", async () => {
  await publishNpm(platform, GROUP, "inside", "1.0.0");
  const ends = [
    "..",
    "../..",
    "%2e%2e",
    "..%2f..",
    "..%252f..",
    "..%5c..",
    "x%00",
    "%c0%ae%c0%ae",
    "%ff",
    "x%0d%0ay:z",
  ];
  const paths = ends.flatMap((end) => [
    `/npm/${GROUP}/${end}/inside`,
    `/npm/${GROUP}/inside/-/${end}`,
    `/npm/${end}/inside`,
    `/pypi/${GROUP}/simple/inside/${end}`,
    `/pypi/${end}/simple/`,
    `/maven/${GROUP}/-/org/example/${end}/1.0/app-1.0.jar`,
    `/maven/${end}/-/org/example/app/1.0/app-1.0.jar`,
  ]);
  for (const path of paths) {
    const status = await statusOf(head("GET", path));
    assert.ok(status === 400 || status === 403 || status === 404, `GET ${path}: ${status}`);
  }
});

test("a publisher writes to no path outside of its group, and leaves nothing", async () => {
  const before = await counts();
  const body = JSON.stringify(publishDocument("../../evil", "1.0.0"));
  const length = `Content-Length: ${Buffer.byteLength(body)}`;
  for (const name of ["..%2f..%2fevil", "../../evil", "%2e%2e%2fevil", "@acme%2f..%2fevil", "evil%00"]) {
    const status = await statusOf(head("PUT", `/npm/${GROUP}/${name}`, [length]) + body);
    assert.ok(status >= 400 && status < 500, `${name}: ${status}`);
  }
  for (const path of ["org/../../x/1.0/x-1.0.jar", "org/example/..%2fx/1.0/x-1.0.jar", "org/x/1.0/x-1.0.jar%00.pom"]) {
    const status = await statusOf(`${head("PUT", `/maven/${GROUP}/-/${path}`, ["Content-Length: 1"])}x`);
    assert.ok(status >= 400 && status < 500, `${path}: ${status}`);
  }
  const file = sdistOf({ name: "evil", version: "1.0" });
  for (const filename of ["../evil-1.0.tar.gz", "evil-1.0.tar.gz\0.whl", "/evil-1.0.tar.gz"]) {
    const answer = await uploadPypi(platform, GROUP, { ...file, filename, name: "evil", version: "1.0" });
    // What stands before the last slash of a file's name is dropped from a form, as RFC 7578 has it.
    if (answer.status === 200) assert.equal((await get(`/pypi/${GROUP}/simple/evil/evil-1.0.tar.gz`)).status, 200);
    else assert.equal(answer.status, 400, `${JSON.stringify(filename)}: ${answer.text}`);
  }
  const { artifact_files: files = 0 } = await counts();
  assert.ok(files <= (before["artifact_files"] ?? 0) + 1);
  assert.deepEqual(uploads(), []);
});

test("names that look like others are other names, or none", async () => {
  await publishNpm(platform, GROUP, "kit", "1.0.0");
  const kit = { name: "kit", version: "1.0" };
  assert.equal((await uploadPypi(platform, GROUP, { ...sdistOf(kit), ...kit })).status, 200);
  const pom = pomText("org.example", "kit", "1.0");
  await putMaven(platform, GROUP, "org/example/kit/1.0/kit-1.0.pom", pom);
  // The Kelvin sign, whose small letter is k; a Cyrillic letter; a full-width one; a dotless i; one that is composed.
  for (const name of ["\u212Ait", "\u043Ait", "\uFF4Bit", "k\u0131t", "ki\u0307t"]) {
    const text = encodeURIComponent(name);
    const { status } = await get(`/pypi/${GROUP}/simple/${text}/kit-1.0.tar.gz`);
    assert.equal(status, 404, `PyPI: a file of ${text}`);
    const page = await get(`/pypi/${GROUP}/simple/${text}/`);
    assert.doesNotMatch(String(page.headers["location"] ?? ""), /\/kit\/$/, `PyPI: ${text}`);
    assert.equal((await get(`/npm/${GROUP}/${text}`)).status, 404, `npm: ${text}`);
    assert.ok((await get(mavenPath(GROUP, `org/example/${text}/1.0/kit-1.0.pom`))).status >= 400, `Maven: ${text}`);
    const body = publishDocument(name, "2.0.0");
    const published = await platform.call("PUT", `/npm/${GROUP}/${text}`, { token, body });
    assert.equal(published.status, 400, `npm: ${text}: ${published.text}`);
    const uploaded = await uploadPypi(platform, GROUP, { ...sdistOf(kit), name, version: "1.0" });
    assert.equal(uploaded.status, 400, `PyPI: ${text}: ${uploaded.text}`);
  }
  // In npm and Maven upper and lower case are different; in PyPI they are the same.
  assert.equal((await get(`/npm/${GROUP}/Kit`)).status, 404);
  assert.equal((await get(mavenPath(GROUP, "org/example/Kit/1.0/Kit-1.0.pom"))).status, 404);
  assert.equal((await get(`/pypi/${GROUP}/simple/KIT/`)).status, 301);
});

test("versions that are equal by PEP 440 are one version, and none comes back under another spelling", async () => {
  const upload = (version: string, filename?: string): Promise<Answer> => {
    const file = wheelOf({ name: "equal", version });
    return uploadPypi(platform, GROUP, { ...file, ...(filename && { filename }), name: "equal", version });
  };
  assert.equal((await upload("1.0")).status, 200);
  const second = await upload("1.0.0");
  assert.equal(second.status, 200, second.text);
  const listed = await get(`/libraries/v2/artifacts?ecosystems=ECOSYSTEM_PYTHON&query=equal`);
  const [artifact] = listed.body["artifacts"] as unknown as { uid: string; versionCount: number }[];
  assert.equal(artifact?.versionCount, 1, "the file of 1.0.0 is one of 1.0");
  await upload("2.0");
  const path = `/libraries/v2/artifacts/${encodeURIComponent(artifact?.uid ?? "")}/versions`;
  const versions = (await get(path)).body["artifactVersions"] as unknown as { uid: string; version: string }[];
  const removed = versions.find(({ version }) => version === "1.0");
  await platform.ok("DELETE", `/libraries/v2/artifactVersions/${removed?.uid}`);
  for (const version of ["1.0", "1.0.0", "1"]) {
    const answer = await upload(version);
    assert.equal(answer.status, 409, `${version}: ${answer.text}`);
  }
});

test("a tarball with links and with paths that leave its folder is stored as it is, and nothing of it is unpacked", async () => {
  const tarball = gzipSync(
    tarOf([
      { path: "package/package.json", content: '{"name": "links", "version": "1.0.0"}' },
      { path: "package/link", type: "SymbolicLink", linkpath: "/etc/passwd" },
      { path: "package/hard", type: "Link", linkpath: "../../../etc/passwd" },
      { path: "../../evil.js", content: "evil" },
    ]),
  );
  assert.equal((await publishNpm(platform, GROUP, "links", "1.0.0", { tarball })).status, 201);
  const response = await fetch(`${platform.url}${npmPath(GROUP, "links")}/-/links-1.0.0.tgz`, {
    headers: { authorization: `Bearer ${token}` },
  });
  assert.ok(Buffer.from(await response.arrayBuffer()).equals(tarball));
});

test("a wheel whose metadata unpacks to 100 megabytes is rejected", async () => {
  const content = Buffer.alloc(100 * 1024 * 1024, "x");
  const filename = "bomb-1.0-py3-none-any.whl";
  const name = "bomb-1.0.dist-info/METADATA";
  // With its size, and with a small one that the archive claims instead.
  for (const [entry, why] of [
    [{ name, content }, /METADATA has more than/],
    [{ name, content, claimedBytes: 100 }, /METADATA cannot be unpacked/],
  ] as const) {
    const bytes = zipOf([entry]);
    assert.ok(bytes.length < MAX_FILE_BYTES);
    const answer = await uploadPypi(platform, GROUP, { filename, bytes, name: "bomb", version: "1.0" });
    assert.equal(answer.status, 400, answer.text);
    assert.match(answer.text, why);
  }
});

test("bodies without an end are answered 413 after what is allowed, and nothing of them stays", async () => {
  const before = await counts();
  const noise = randomBytes(64 * 1024);
  const spaces = Buffer.alloc(64 * 1024, " ");
  const form = "Content-Type: multipart/form-data; boundary=b";
  const part = (name: string): string => `--b\r\nContent-Disposition: form-data; ${name}\r\n\r\n`;
  const cases: [what: string, request: string, begin: string, chunk: Buffer][] = [
    ["npm: a document", head("PUT", npmPath(GROUP, "huge"), CHUNKED), '{"name":"huge",', spaces],
    [
      "npm: a tarball",
      head("PUT", npmPath(GROUP, "huge"), CHUNKED),
      '{"name":"huge","_attachments":{"huge-1.0.0.tgz":{"data":"',
      Buffer.from(randomBytes(48 * 1024).toString("base64")),
    ],
    ["PyPI: a field", head("POST", `/pypi/${GROUP}/legacy/`, [form, ...CHUNKED]), part('name="description"'), spaces],
    [
      "PyPI: a file",
      head("POST", `/pypi/${GROUP}/legacy/`, [form, ...CHUNKED]),
      part('name="content"; filename="huge-1.0.tar.gz"'),
      noise,
    ],
    [
      "PyPI: fields",
      head("POST", `/pypi/${GROUP}/legacy/`, [form, ...CHUNKED]),
      "",
      Buffer.from(`${part('name="x"')}y\r\n`.repeat(1_000)),
    ],
    ["Maven: a jar", head("PUT", mavenPath(GROUP, "o/huge/1/huge-1.jar"), CHUNKED), "", noise],
    ["Maven: a POM", head("PUT", mavenPath(GROUP, "o/huge/1/huge-1.pom"), CHUNKED), "<project>", spaces],
    ["Maven: metadata", head("PUT", mavenPath(GROUP, "o/huge/maven-metadata.xml"), CHUNKED), "<metadata>", spaces],
    ["Maven: a sum", head("PUT", mavenPath(GROUP, "o/huge/1/huge-1.jar.sha1"), CHUNKED), "", spaces],
  ];
  for (const [what, request, begin, chunk] of cases) {
    const { status, sentBytes } = await endless(request, begin, chunk);
    assert.equal(status, 413, what);
    assert.ok(sentBytes < ENOUGH_BYTES, `${what}: ${sentBytes} bytes were taken`);
  }
  assert.deepEqual(await counts(), before);
  assert.deepEqual(uploads(), []);
});

test("an upload that ends in the middle leaves nothing", async () => {
  const before = await counts();
  const document = JSON.stringify(publishDocument("cut", "1.0.0"));
  const requests = [
    head("PUT", npmPath(GROUP, "cut"), [`Content-Length: ${document.length}`]) + document.slice(0, -200),
    `${head("PUT", mavenPath(GROUP, "o/cut/1/cut-1.jar"), ["Content-Length: 1000"])}half`,
    `${head("POST", `/pypi/${GROUP}/legacy/`, ["Content-Type: multipart/form-data; boundary=b", "Content-Length: 1000"])}--b\r\nContent-Disposition: form-data; name="content"; filename="cut-1.0.tar.gz"\r\n\r\nhalf`,
  ];
  for (const request of requests) {
    const { socket, answer } = open();
    await new Promise<void>((resolve) => socket.write(request, () => resolve()));
    socket.destroy();
    await answer;
  }
  // The server notices by itself that the client is gone.
  for (let attempt = 0; attempt < 500 && uploads().length > 0; attempt++) await get("/ping/v2/ping");
  assert.deepEqual(await counts(), before);
  assert.deepEqual(uploads(), []);
});

test("thousands of headers, in a request and in a part of a form, are rejected, and the server goes on", async () => {
  const many = Array.from({ length: 5_000 }, (_, at) => `X-${at}: y`);
  for (const path of [npmPath(GROUP, "kit"), `/pypi/${GROUP}/simple/kit/`, mavenPath(GROUP, "a/b/1/b-1.jar")]) {
    const status = await statusOf(head("GET", path, many));
    assert.ok(status === 431 || status === 400, `${path}: ${status}`);
  }
  const lines = many.join("\r\n");
  const body = `--b\r\nContent-Disposition: form-data; name="x"\r\n${lines}\r\n\r\ny\r\n--b--\r\n`;
  const answer = await platform.call("POST", `/pypi/${GROUP}/legacy/`, {
    token,
    raw: body,
    headers: { "content-type": "multipart/form-data; boundary=b" },
  });
  assert.equal(answer.status, 400, answer.text);
  assert.equal((await get(npmPath(GROUP, "kit"))).status, 200);
});

test("of two uploads of one version at a time one wins, the other is answered so, and what is read is the winner's", async () => {
  const poms = ["one", "other"].map((text) => pomText("org.example", "race", "1.0", text));
  const outcomes = await Promise.all(
    poms.map((pom) => putMaven(platform, GROUP, "org/example/race/1.0/race-1.0.pom", pom)),
  );
  assert.deepEqual(outcomes.map(({ status }) => status).toSorted(), [201, 409]);
  const winner = poms[outcomes.findIndex(({ status }) => status === 201)];
  assert.equal((await get(mavenPath(GROUP, "org/example/race/1.0/race-1.0.pom"))).text, winner);
  // Two files of one version that is new are both its files.
  const files = ["race2-1.0.jar", "race2-1.0-sources.jar"];
  const both = await Promise.all(files.map((file) => putMaven(platform, GROUP, `org/example/race2/1.0/${file}`, file)));
  assert.deepEqual(
    both.map(({ status }) => status),
    [201, 201],
    both.map(({ text }) => text).join(),
  );
});
