// npm's registry API by plain requests: publishing, packuments, tags, deprecating, unpublishing.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, test } from "node:test";
import { npmPath, publishDocument, publishNpm, tarballOf } from "../../../server/test/support/npm.ts";
import { type Answer, type Json, type Platform, startPlatform } from "../../../server/test/support/platform.ts";

let platform: Platform;
let token = "";
before(async () => {
  platform = await startPlatform();
  token = await platform.token();
  await platform.group(platform.organization, { name: "team" });
});
after(() => platform.close());

const GROUP = "acme/team";
const ABBREVIATED = "application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8, */*";
const get = (path: string, headers: Record<string, string> = {}): Promise<Answer> =>
  platform.call("GET", path, { token, headers });
const published = async (name: string, version: string, options?: Parameters<typeof publishNpm>[4]): Promise<void> => {
  const answer = await publishNpm(platform, GROUP, name, version, options);
  assert.equal(answer.status, 201, answer.text);
};
const packument = async (name: string): Promise<Json> => {
  const answer = await get(npmPath(GROUP, name));
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
};

test("a published version is in both forms of the packument, and its tarball has the bytes that were sent", async () => {
  const tarball = tarballOf({ name: "hello", version: "1.0.0" });
  const scripts = { postinstall: "node index.js" };
  await published("hello", "1.0.0", {
    tarball,
    manifest: { scripts, dependencies: { other: "^1" }, readme: "# Hello" },
  });
  const full = await packument("hello");
  const versions = full["versions"] as Record<string, { dist: Record<string, string>; scripts?: object }>;
  const url = `${platform.url}/npm/acme/team/hello/-/hello-1.0.0.tgz`;
  assert.deepEqual(full["dist-tags"], { latest: "1.0.0" });
  assert.deepEqual([versions["1.0.0"]?.dist["tarball"], versions["1.0.0"]?.scripts], [url, scripts]);
  assert.equal(full["readme"], "# Hello");
  const short = await get(npmPath(GROUP, "hello"), { accept: ABBREVIATED });
  assert.match(String(short.headers["content-type"]), /vnd\.npm\.install-v1\+json/);
  const [one] = Object.values(short.body["versions"] as Record<string, Json>);
  assert.deepEqual(
    [one?.["scripts"], one?.["hasInstallScript"], one?.["dependencies"]],
    [undefined, true, { other: "^1" }],
  );
  const again = await get(npmPath(GROUP, "hello"), {
    accept: ABBREVIATED,
    "if-none-match": String(short.headers["etag"]),
  });
  assert.equal(again.status, 304);

  const sent = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
  assert.deepEqual(Buffer.from(await sent.arrayBuffer()), tarball);
  const part = await fetch(url, { headers: { authorization: `Bearer ${token}`, range: "bytes=2-5" } });
  assert.deepEqual([part.status, Buffer.from(await part.arrayBuffer())], [206, tarball.subarray(2, 6)]);
});

test("scoped names are found with %2f and with a slash, and are no other package", async () => {
  await published("@acme/ui", "0.1.0");
  for (const path of ["@acme%2fui", "@acme%2Fui", "@acme/ui"])
    assert.equal((await get(`/npm/${GROUP}/${path}`)).body.name, "@acme/ui", path);
  assert.equal((await get(`/npm/${GROUP}/ui`)).status, 404);
  assert.equal((await get(`/npm/${GROUP}/@acme/ui/-/ui-0.1.0.tgz`)).status, 200);
  assert.equal((await get(`/npm/${GROUP}/@acme%2fui/0.1.0`)).body["version"], "0.1.0");
  assert.equal((await get(`/npm/${GROUP}/hello/latest`)).body["version"], "1.0.0");
});

test("a version is published once; of two at a time one wins, and what the other sent is gone", async () => {
  const answers = await Promise.all(
    ["one", "two"].map((text) =>
      publishNpm(platform, GROUP, "race", "1.0.0", { tarball: tarballOf({ name: "race" }, { "a.js": text }) }),
    ),
  );
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 403]);
  const refused = answers.find(({ status }) => status === 403);
  assert.match(String(refused?.body["error"]), /cannot publish over the previously published versions: 1\.0\.0/);
});

test("tags are read, set and removed", async () => {
  await published("tagged", "1.0.0");
  await published("tagged", "2.0.0-rc.1", { tags: { next: "2.0.0-rc.1" } });
  const tags = `/npm/${GROUP}/-/package/tagged/dist-tags`;
  assert.deepEqual((await get(tags)).body, { latest: "1.0.0", next: "2.0.0-rc.1" });
  const put = (tag: string, version: string) =>
    platform.call("PUT", `${tags}/${tag}`, { token, raw: JSON.stringify(version) });
  assert.equal((await put("stable", "1.0.0")).status, 200);
  assert.equal((await put("stable", "9.0.0")).status, 400);
  assert.equal((await put("1.x", "1.0.0")).status, 400);
  assert.equal((await platform.call("DELETE", `${tags}/next`, { token })).status, 200);
  assert.equal((await platform.call("DELETE", `${tags}/latest`, { token })).status, 400);
  assert.deepEqual((await get(tags)).body, { latest: "1.0.0", stable: "1.0.0" });
});

test("a deprecated version says why, until it is not deprecated any more", async () => {
  await published("old", "1.0.0");
  const document = await packument("old");
  const deprecate = async (text: string): Promise<void> => {
    const versions = document["versions"] as Record<string, Json>;
    const changed = { ...document, versions: { "1.0.0": { ...versions["1.0.0"], deprecated: text } } };
    assert.equal((await platform.call("PUT", npmPath(GROUP, "old"), { token, body: changed })).status, 200);
  };
  const deprecated = async () =>
    ((await packument("old"))["versions"] as Record<string, Json>)["1.0.0"]?.["deprecated"];
  await deprecate("use new");
  assert.equal(await deprecated(), "use new");
  await deprecate("");
  assert.equal(await deprecated(), undefined);
});

test("an unpublished version is gone, is never published again, and what changed meanwhile is not overwritten", async () => {
  for (const version of ["1.0.0", "1.1.0"]) await published("gone", version);
  const document = await packument("gone");
  const { "1.1.0": _, ...versions } = document["versions"] as Record<string, Json>;
  const changed = { ...document, versions, "dist-tags": { latest: "1.0.0" } };
  const rev = String(document["_rev"]);
  const put = (at: string) => platform.call("PUT", `${npmPath(GROUP, "gone")}/-rev/${at}`, { token, body: changed });
  assert.equal((await put("0-0")).status, 409);
  assert.equal((await put(rev)).status, 200);
  assert.equal((await get(`${npmPath(GROUP, "gone")}/-/gone-1.1.0.tgz`)).status, 404);
  const after = await packument("gone");
  assert.deepEqual([Object.keys(after["versions"] as object), after["dist-tags"]], [["1.0.0"], { latest: "1.0.0" }]);
  const file = await platform.call("DELETE", `${npmPath(GROUP, "gone")}/-/gone-1.1.0.tgz/-rev/x`, { token });
  assert.equal(file.status, 200, file.text);
  assert.equal((await publishNpm(platform, GROUP, "gone", "1.1.0")).status, 403);
  const whole = await platform.call("DELETE", `${npmPath(GROUP, "gone")}/-rev/${String(after["_rev"])}`, { token });
  assert.equal(whole.status, 200, whole.text);
  assert.equal((await get(npmPath(GROUP, "gone"))).status, 404);
  assert.equal((await publishNpm(platform, GROUP, "gone", "1.0.0")).status, 403);
  await published("gone", "1.2.0");
});

test("within a scope a name may begin with an underscore or a hyphen, in every path of it", async () => {
  for (const name of [
    "@acme/_internal",
    "@acme/-dash",
    "@acme/__mocks__",
    "@acme/-",
    "@acme/-rev",
    "@_acme/x",
    "@-/y",
  ]) {
    await published(name, "1.0.0");
    const base = `${name.slice(name.indexOf("/") + 1)}-1.0.0.tgz`;
    for (const path of [npmPath(GROUP, name), `/npm/${GROUP}/${name}`]) {
      assert.equal((await get(path)).body["name"], name, path);
      assert.equal((await get(`${path}/-/${base}`)).status, 200, path);
      assert.equal((await get(`${path}/1.0.0`)).body["version"], "1.0.0", path);
    }
    const tags = `/npm/${GROUP}/-/package/${name.replace("/", "%2f")}/dist-tags`;
    assert.deepEqual((await get(tags)).body, { latest: "1.0.0" });
  }
  for (const name of ["_x", "-x", "~x", ".x", "@acme/.x", "@.acme/x", "@acme/..", "@/x", "@acme/", "@acme/X"]) {
    const answer = await publishNpm(platform, GROUP, name, "1.0.0");
    assert.ok([400, 404].includes(answer.status), `${name}: ${answer.status}`);
  }
  const { artifacts } = await platform.ok<{ artifacts: { name: string }[] }>(
    "GET",
    "/libraries/v2/artifacts?ecosystems=ECOSYSTEM_JAVASCRIPT&query=%40acme/_internal",
  );
  assert.deepEqual(
    artifacts.map(({ name }) => name),
    ["@acme/_internal"],
  );
});

test("the name of a tag may be anything but a range of versions, by dist-tag and by publish --tag", async () => {
  await published("ranged", "1.0.0");
  const tags = `/npm/${GROUP}/-/package/ranged/dist-tags`;
  const put = (tag: string): Promise<Answer> =>
    platform.call("PUT", `${tags}/${encodeURIComponent(tag)}`, { token, body: "1.0.0" });
  const names = [
    "v1-latest",
    "2beta",
    "1-alpha",
    "v2next",
    "x-ray",
    "1.2.3.4",
    "latest-1",
    "-next",
    "_old",
    "~old",
    "a'b",
  ];
  for (const tag of names) {
    assert.equal((await put(tag)).status, 200, tag);
    assert.equal((await get(`${npmPath(GROUP, "ranged")}/${encodeURIComponent(tag)}`)).body["version"], "1.0.0", tag);
  }
  for (const tag of [
    "*",
    "~1",
    "^1",
    "1",
    "v1",
    "1.x",
    "x",
    "X",
    "1.2.3",
    "v1.2.3-rc.1",
    "=1.0.0",
    ">=1",
    "..",
    "a b",
    "a/b",
  ])
    assert.equal((await put(tag)).status, 400, tag);
  await published("ranged", "2.0.0", { tags: { "3canary": "2.0.0" } });
  const answer = await publishNpm(platform, GROUP, "ranged", "3.0.0", { tags: { "3.x": "3.0.0" } });
  assert.equal(answer.status, 400, answer.text);
  assert.deepEqual(new Set(Object.keys((await get(tags)).body)), new Set(["latest", "3canary", ...names]));
  assert.equal((await platform.call("DELETE", `${tags}/v1-latest`, { token })).status, 200);
  assert.equal((await get(tags)).body["v1-latest"], undefined);
});

test("what does not fit together is not published, and the error names the field", async () => {
  const bad = async (name: string, document: object): Promise<string> => {
    const answer = await platform.call("PUT", npmPath(GROUP, name), { token, body: document });
    assert.equal(answer.status, 400, answer.text);
    return String(answer.body["error"]);
  };
  const other = publishDocument("other", "1.0.0");
  const wrongSum = publishDocument("bad", "1.0.0", { tarball: tarballOf({ name: "bad" }) });
  const [version] = Object.values(wrongSum["versions"] as Record<string, { dist: object }>);
  if (version !== undefined) version.dist = { integrity: `sha512-${"A".repeat(86)}==` };
  assert.match(await bad("bad", other), /name: is not the one in the path/);
  assert.match(await bad("bad", wrongSum), /dist\.integrity: is not that of the tarball/);
  for (const name of ["Upper", "..", ".hidden", "_x", "bäd", "a b", "@Scope/x", "node_modules"])
    assert.match(await bad(encodeURIComponent(name), publishDocument(name, "1.0.0")), /name/, name);
  for (const number of ["1.0", "v1.0.0", "01.0.0", "1.0.0+build", "latest"])
    assert.match(await bad("bad", publishDocument("bad", number)), /versions|tag/, number);
  const data = publishDocument("bad", "1.0.0");
  (data["_attachments"] as Record<string, { data: string }>)["bad-1.0.0.tgz"] = { data: "not base64!" };
  assert.match(await bad("bad", data), /base64/);
  assert.equal((await get(npmPath(GROUP, "bad"))).status, 404);
});

test("paths that leave the registry, or are no paths, are not found or rejected", async () => {
  for (const path of ["..%2f..%2fetc", "hello/-/..%2f..%2fhello-1.0.0.tgz", "%2e%2e", "hello%00", "@acme%2f..%2fui"])
    assert.equal((await get(`/npm/${GROUP}/${path}`)).status, 404, path);
  assert.equal((await get(`/npm/${GROUP}/%zz`)).status, 400);
  assert.equal((await get("/npm/")).status, 404);
});

test("the readme of a package is that of its latest version, and says when it is not known", async () => {
  const name = "@acme/readme";
  const readme = async (uid: string): Promise<unknown> => platform.ok("GET", `/libraries/v2/artifacts/${uid}/readme`);
  const publish = async (version: string, fields: object, manifest: object = {}): Promise<void> => {
    const body = { ...publishDocument(name, version, { manifest }), ...fields };
    assert.equal((await platform.call("PUT", npmPath(GROUP, name), { token, body })).status, 201);
  };
  await publish("1.0.0", { readme: "# One" });
  const query = "ecosystems=ECOSYSTEM_JAVASCRIPT&query=readme";
  const { artifacts } = await platform.ok<{ artifacts: { uid: string }[] }>("GET", `/libraries/v2/artifacts?${query}`);
  const uid = artifacts[0]?.uid ?? "";
  assert.deepEqual(await readme(uid), { text: "# One", cutOff: false, contentType: "text/markdown" });
  await publish("2.0.0", {}, { readme: `${"x".repeat(65_535)}\u{1f600}` });
  const { text, cutOff } = (await readme(uid)) as { text: string; cutOff: boolean };
  assert.deepEqual([text.length, text.at(-1), cutOff], [65_536, "\ufffd", true]);
  const stranger = await platform.token(await platform.identity(platform.organization));
  const { status } = await platform.call("GET", `/libraries/v2/artifacts/${uid}/readme`, { token: stranger });
  assert.equal(status, 404);
});

test("provenance that was sent with a version is kept and served as it was, and other attachments are not taken for it", async () => {
  const statement = { _type: "https://in-toto.io/Statement/v1", predicateType: "https://slsa.dev/provenance/v1" };
  const payload = Buffer.from(JSON.stringify(statement)).toString("base64");
  const bundle = { mediaType: "application/vnd.dev.sigstore.bundle.v0.3+json", dsseEnvelope: { payload } };
  const document = publishDocument("@acme/proven", "1.0.0");
  const attach = (data: string): object => ({
    ...document,
    _attachments: {
      "@acme/proven-1.0.0.sigstore": { content_type: bundle.mediaType, data, length: data.length },
      ...(document["_attachments"] as object),
    },
  });
  const put = (body: object) => platform.call("PUT", npmPath(GROUP, "@acme/proven"), { token, body });
  assert.equal((await put(attach("no bundle"))).status, 400);
  assert.equal((await put(attach(JSON.stringify(bundle)))).status, 201);
  type Version = { dist: { attestations: { url: string; provenance: object } } };
  const [version] = Object.values((await packument("@acme/proven"))["versions"] as Record<string, Version>);
  assert.ok(version !== undefined);
  const { url, provenance } = version.dist.attestations;
  assert.deepEqual(provenance, { predicateType: statement.predicateType });
  const kept = await get(new URL(url).pathname);
  assert.deepEqual(kept.body["attestations"], [{ predicateType: statement.predicateType, bundle }]);
});

test("a document that is too large beside its tarball, and a tarball that is too large, are rejected as such", async () => {
  const small = await startPlatform({ MOORAGE_MAX_LIBRARY_FILE_BYTES: "1000" });
  try {
    const tarball = tarballOf({ name: "big" }, { "big.bin": randomBytes(2_000).toString("hex") });
    const answer = await publishNpm(small, "acme", "big", "1.0.0", { tarball });
    assert.equal(answer.status, 413, answer.text);
  } finally {
    await small.close();
  }
  const document = { ...publishDocument("big", "1.0.0"), rest: "x".repeat(33 * 1024 * 1024) };
  assert.equal((await platform.call("PUT", npmPath(GROUP, "big"), { token, body: document })).status, 413);
  const deep = `{"name":"big","x":${"[".repeat(5_000)}`;
  assert.equal((await platform.call("PUT", npmPath(GROUP, "big"), { token, raw: deep })).status, 400);
});
