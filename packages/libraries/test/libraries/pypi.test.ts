// Python projects: what twine uploads, what pip reads, and what neither may do.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, test } from "node:test";
import { type Answer, type Platform, rows, startPlatform } from "../../../server/test/support/platform.ts";
import { sdistOf, uploadPypi, wheelOf } from "../../../server/test/support/pypi.ts";
import { zipOf } from "../../../server/test/support/zip.ts";

let platform: Platform;
let token = "";
before(async () => {
  platform = await startPlatform();
  token = await platform.token();
  await platform.group(platform.organization, { name: "team" });
});
after(() => platform.close());

const JSON_TYPE = "application/vnd.pypi.simple.v1+json";
const SIMPLE = "/pypi/acme/team/simple";
const sha256 = (bytes: string | Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
const get = (path: string, headers: Record<string, string> = {}): Promise<Answer> =>
  platform.call("GET", path, { token, headers });
const upload = (wheel: { name: string; version: string }, made: { filename: string; bytes: Buffer }, more = {}) =>
  uploadPypi(platform, "acme/team", { ...wheel, ...made, ...more });

/** Uploads a wheel that must be taken. */
async function put(wheel: Parameters<typeof wheelOf>[0]): Promise<ReturnType<typeof wheelOf>> {
  const made = wheelOf(wheel);
  const answer = await upload(wheel, made);
  assert.equal(answer.status, 200, answer.text);
  return made;
}

test("a wheel and its sources are listed, with sums, metadata and the versions of Python, and downloaded", async () => {
  const wheel = { name: "My.Project", version: "1.0", requiresPython: ">=3.8,<4" };
  const { filename, bytes, metadata } = await put(wheel);
  const sdist = sdistOf(wheel);
  assert.equal((await upload(wheel, sdist, { fields: { requires_python: ">=3.8" } })).status, 200);

  const page = await get(`${SIMPLE}/my-project/`, { accept: JSON_TYPE });
  assert.equal(page.status, 200, page.text);
  assert.equal(page.headers["content-type"], JSON_TYPE);
  assert.deepEqual([page.body.name, page.body["versions"]], ["my-project", ["1.0"]]);
  const files = page.body["files"] as Record<string, unknown>[];
  assert.deepEqual(
    files.map((file) => [
      file["filename"],
      file["hashes"],
      file["size"],
      file["requires-python"],
      file["core-metadata"],
    ]),
    [
      [sdist.filename, { sha256: sha256(sdist.bytes) }, sdist.bytes.length, ">=3.8", false],
      [filename, { sha256: sha256(bytes) }, bytes.length, ">=3.8,<4", { sha256: sha256(metadata) }],
    ].sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
  );
  const html = await get(`${SIMPLE}/my-project/`);
  assert.match(html.text, new RegExp(`href="${filename}#sha256=${sha256(bytes)}"`));

  const file = await get(`${SIMPLE}/my-project/${filename}`);
  assert.deepEqual([file.status, file.headers["content-length"]], [200, String(bytes.length)]);
  const part = await get(`${SIMPLE}/my-project/${filename}`, { range: "bytes=0-3" });
  assert.deepEqual([part.status, part.text], [206, "PK\u0003\u0004"]);
  const beside = await get(`${SIMPLE}/my-project/${filename}.metadata`);
  assert.deepEqual([beside.status, beside.text], [200, metadata]);

  const index = await get(`${SIMPLE}/`, { accept: JSON_TYPE });
  assert.deepEqual(index.body["projects"], [{ name: "my-project" }]);
  // The catalog of the API has it, too.
  const [artifact] = await rows(
    platform.ok("GET", "/libraries/v2/artifacts?ecosystems=ECOSYSTEM_PYTHON&query=my"),
    "artifacts",
  );
  assert.deepEqual(
    [artifact?.name, artifact?.["latestVersion"], artifact?.["versionCount"], artifact?.["description"]],
    ["My.Project", "1.0", 1, "My.Project says hello"],
  );
});

test("pages are found by any spelling of the name, and always end with a slash", async () => {
  await put({ name: "spelled-name", version: "1.0" });
  for (const [path, location] of [
    [`${SIMPLE}/spelled-name`, `${SIMPLE}/spelled-name/`],
    [`${SIMPLE}/Spelled_Name/`, `${SIMPLE}/spelled-name/`],
    [SIMPLE, `${SIMPLE}/`],
  ] as const) {
    const answer = await get(path);
    assert.deepEqual([answer.status, answer.headers["location"]], [301, location], path);
  }
  assert.equal((await get(`${SIMPLE}/nothing/`)).status, 404);
  assert.equal((await get(`${SIMPLE}/spelled-name/nothing-1.0.tar.gz`)).status, 404);
  assert.equal((await get(`${SIMPLE}/spelled-name/`, { accept: "application/vnd.pypi.simple.v9+json" })).status, 406);
});

test("a page that has not changed is answered with 304, and with the new version after a change", async () => {
  await put({ name: "cached", version: "1.0" });
  const first = await get(`${SIMPLE}/cached/`, { accept: JSON_TYPE });
  const etag = String(first.headers["etag"]);
  assert.equal((await get(`${SIMPLE}/cached/`, { accept: JSON_TYPE, "if-none-match": etag })).status, 304);
  await put({ name: "cached", version: "1.1rc1" });
  const second = await get(`${SIMPLE}/cached/`, { accept: JSON_TYPE, "if-none-match": etag });
  assert.deepEqual([second.status, second.body["versions"]], [200, ["1.0", "1.1rc1"]]);
});

test("versions are in the order of PEP 440, and a pre-release is not the latest", async () => {
  for (const version of ["1.10", "1.9", "2.0rc1", "1!0.1.dev1", "1.9.post1"]) await put({ name: "ordered", version });
  const { body } = await get(`${SIMPLE}/ordered/`, { accept: JSON_TYPE });
  assert.deepEqual(body["versions"], ["1.9", "1.9.post1", "1.10", "2.0rc1", "1!0.1.dev1"]);
  const [artifact] = await rows(
    platform.ok("GET", "/libraries/v2/artifacts?ecosystems=ECOSYSTEM_PYTHON&query=ordered"),
    "artifacts",
  );
  assert.equal(artifact?.["latestVersion"], "1.10");
});

test("builds for CUDA are found by its version", async () => {
  for (const version of ["2.4.0+cu121", "2.4.0"]) await put({ name: "torch-like", version });
  const found = async (cuda: string): Promise<number> =>
    (
      await rows(
        platform.ok("GET", `/libraries/v2/artifacts?ecosystems=ECOSYSTEM_PYTHON&cudaVersion=${cuda}`),
        "artifacts",
      )
    ).length;
  assert.deepEqual([await found("12.1"), await found("11.8")], [1, 0]);
});

test("a published file never changes: the same again is taken, another is 409", async () => {
  const wheel = { name: "fixed", version: "1.0" };
  const made = await put(wheel);
  assert.equal((await upload(wheel, made)).status, 200);
  const other = wheelOf({ ...wheel, code: "changed = True\n" });
  const answer = await upload(wheel, other);
  assert.equal(answer.status, 409, answer.text);
  // By these words twine knows what `--skip-existing` is about.
  assert.match(answer.text, /already exists/);
  assert.equal(sha256((await get(`${SIMPLE}/fixed/${made.filename}.metadata`)).text), sha256(made.metadata));
  // A version in another spelling is the same version.
  assert.equal((await upload({ ...wheel, version: "1.0" }, { ...other, filename: made.filename })).status, 409);
});

test("of two different files of one name at the same time one is published, and the other is answered 409", async () => {
  const wheel = { name: "raced", version: "1.0" };
  const made = Array.from({ length: 6 }, (_, at) => wheelOf({ ...wheel, code: `number = ${at}\n` }));
  const answers = await Promise.all(made.map((one) => upload(wheel, one)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409, 409, 409, 409]);
  const winner = made[answers.findIndex(({ status }) => status === 200)];
  const { body } = await get(`${SIMPLE}/raced/`, { accept: JSON_TYPE });
  const [file] = body["files"] as { hashes: { sha256: string } }[];
  assert.equal(file?.hashes.sha256, sha256(winner?.bytes ?? ""));
});

test("uploads that are wrong are rejected with the field, and leave nothing", async () => {
  const wheel = { name: "wrong", version: "1.0" };
  const made = wheelOf(wheel);
  const fake = zipOf([{ name: "wrong-1.0.dist-info/METADATA", content: "Name: other\nVersion: 1.0\n\n" }]);
  const cases: [string, RegExp, object][] = [
    ["no action", /:action/, { fields: { ":action": "submit" } }],
    ["a name with a slash", /name: /, { name: "../wrong" }],
    ["a name of look-alikes", /name: /, { name: "wrоng" }],
    ["no version", /version: /, { version: "latest" }],
    ["a file of another project", /content: .*wrong/, { filename: "other-1.0-py3-none-any.whl" }],
    ["a file of another version", /says version 2\.0/, { filename: "wrong-2.0-py3-none-any.whl" }],
    ["a path as its name", /content: |says version/, { filename: "..%2fwrong-1.0.exe" }],
    ["another sum", /sha256_digest: /, { fields: { sha256_digest: "0".repeat(64) } }],
    ["another type", /filetype: /, { fields: { filetype: "sdist" } }],
    ["no archive", /not a zip archive/, { bytes: Buffer.from("hello") }],
    ["metadata of another project", /METADATA is of other/, { bytes: fake }],
  ];
  for (const [what, reason, options] of cases) {
    const answer = await uploadPypi(platform, "acme/team", { ...wheel, ...made, ...options });
    assert.equal(answer.status, 400, `${what}: ${answer.status} ${answer.text}`);
    assert.match(answer.text, reason, what);
  }
  const plain = await platform.call("POST", "/pypi/acme/team/legacy/", { token, body: {} });
  assert.equal(plain.status, 415);
  const cut = await platform.call("POST", "/pypi/acme/team/legacy/", {
    token,
    raw: '--x\r\nContent-Disposition: form-data; name="content"; filename="a-1.0.tar.gz"\r\n\r\nabc',
    headers: { "content-type": "multipart/form-data; boundary=x" },
  });
  assert.equal(cut.status, 400, cut.text);
  const twice = await platform.call("POST", "/pypi/acme/team/legacy/", {
    token,
    raw: ["a", "b"]
      .map((one) => `--x\r\nContent-Disposition: form-data; name="content"; filename="${one}"\r\n\r\n${one}\r\n`)
      .join("")
      .concat("--x--\r\n"),
    headers: { "content-type": "multipart/form-data; boundary=x" },
  });
  assert.match(twice.text, /more than one file/);
  assert.equal((await get(`${SIMPLE}/wrong/`)).status, 404);
  assert.equal(
    (await rows(platform.ok("GET", "/libraries/v2/artifacts?ecosystems=ECOSYSTEM_PYTHON&query=wrong"), "artifacts"))
      .length,
    0,
  );
});

test("a file over the limit is 413, and nothing of it stays", async () => {
  const small = await startPlatform({ MOORAGE_MAX_LIBRARY_FILE_BYTES: "2000" });
  try {
    const wheel = { name: "large", version: "1.0", code: `text = "${"x".repeat(9_000)}"\n` };
    const sdist = { filename: "large-1.0.tar.gz", bytes: Buffer.alloc(9_000, "random") };
    const answer = await uploadPypi(small, "acme", { ...wheel, ...sdist });
    assert.equal(answer.status, 413, answer.text);
    assert.equal((await small.call("GET", "/pypi/acme/simple/large/", { token: await small.token() })).status, 404);
  } finally {
    await small.close();
  }
});

test("who may not publish is answered 403 with the reason, who may not read as well", async () => {
  const wheel = { name: "denied", version: "1.0" };
  const viewer = await platform.token(await platform.identity(platform.organization, "viewer"));
  const answer = await upload(wheel, wheelOf(wheel), { token: viewer });
  assert.equal(answer.status, 403);
  assert.match(answer.text, /CAP_LIBRARIES_PYTHON_PUBLISH/);
  const elsewhere = (await platform.group(platform.organization)).uid;
  const stranger = await platform.token(await platform.identity(elsewhere, "viewer"));
  assert.equal((await platform.call("GET", `${SIMPLE}/my-project/`, { token: stranger })).status, 403);
  assert.equal((await platform.call("GET", `${SIMPLE}/my-project/`)).status, 401);
});

test("the readme of a project is that of its latest version, in the form that its publisher states", async () => {
  const wheel = { name: "acme-readme", version: "1.0" };
  const markdown = ["Description-Content-Type: text/markdown; charset=UTF-8; variant=GFM"];
  await put({ ...wheel, lines: markdown, readme: "# One\n\nmore\n" });
  const [artifact] = await rows(
    platform.ok("GET", "/libraries/v2/artifacts?ecosystems=ECOSYSTEM_PYTHON&query=acme-readme"),
    "artifacts",
  );
  const readme = async (): Promise<unknown> =>
    await platform.ok("GET", `/libraries/v2/artifacts/${artifact?.uid}/readme`);
  const one = { text: "# One\n\nmore", cutOff: false, contentType: "text/markdown" };
  assert.deepEqual(await readme(), one);
  // A source distribution says it in the form. One that says nothing takes nothing away, and an older version neither.
  const sources = { description: "", description_content_type: "text/x-rst" };
  assert.equal((await upload(wheel, sdistOf(wheel), { fields: sources })).status, 200);
  await put({ ...wheel, version: "0.9", lines: markdown, readme: "# Nine" });
  assert.deepEqual(await readme(), one);
  const next = { ...wheel, version: "2.0" };
  const said = { description: `Two\n===\n${"x".repeat(70_000)}`, description_content_type: "text/x-rst" };
  assert.equal((await upload(next, sdistOf(next), { fields: said })).status, 200);
  const { text, ...rest } = (await readme()) as { text: string };
  assert.deepEqual(
    [text.length, text.slice(0, 7), rest],
    [65_536, "Two\n===", { cutOff: true, contentType: "text/x-rst" }],
  );
  // A version without one has none.
  const last = { ...wheel, version: "3.0" };
  await put(last);
  assert.deepEqual(await readme(), { text: "", cutOff: false, contentType: "" });
});

test("a project whose metadata have the readme in their header has none that is known", async () => {
  const wheel = { name: "acme-old", version: "1.0" };
  await put({ ...wheel, lines: ["Description: # Old", "        more"] });
  const [artifact] = await rows(
    platform.ok("GET", "/libraries/v2/artifacts?ecosystems=ECOSYSTEM_PYTHON&query=acme-old"),
    "artifacts",
  );
  const answer = await platform.ok<object>("GET", `/libraries/v2/artifacts/${artifact?.uid}/readme`);
  assert.deepEqual(answer, { cutOff: false, contentType: "" });
});
