// The Python projects, npm packages and Maven artifacts of a Nexus move in. It is a fake, see fake-nexus.ts.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openTestStore } from "../../server/test/support/database.ts";
import { pomText } from "../../server/test/support/maven.ts";
import { tarballOf } from "../../server/test/support/npm.ts";
import { sdistOf, wheelOf } from "../../server/test/support/pypi.ts";
import { type HeldAsset, READER, startFakeNexus } from "./fake-nexus.ts";
import { get, packageImport } from "./package-import.ts";
import type { Stage } from "./tasks-stage.ts";

const sdist = (name: string, version: string, asset: Record<string, unknown> = {}): HeldAsset => ({
  name,
  version,
  ...sdistOf({ name, version }),
  asset,
});

const { open, command, planOf, apply, appliesNothing } = packageImport("nexus", READER);
const registry = (stage: Stage, path: string): Promise<Response> =>
  get(stage, `/pypi/acme/old/${path}`, "application/vnd.pypi.simple.v1+json");

test("hosted repositories of Python come as groups, proxies as upstreams, and the plan names all others", async (t) => {
  const stage = await open(t);
  const wheel = wheelOf({ name: "hello", version: "1.0" });
  const proxy = (remoteUrl: string) => ({ attributes: { proxy: { remoteUrl } } });
  const fake = await startFakeNexus(t, {
    "pypi-hosted": {
      format: "pypi",
      type: "hosted",
      files: [
        { name: "hello", version: "1.0", ...wheel },
        sdist("hello", "1.0", { pypi: { requires_python: ">=3.8" } }),
        { name: "hello", version: "1.0", filename: "hello-1.0.tar.gz.asc", bytes: Buffer.from("signed") },
        sdist("tool", "0.1", { blobCreated: null, lastModified: null }),
      ],
    },
    "pypi-proxy": { format: "pypi", type: "proxy", ...proxy("https://pypi.org/") },
    "npm-proxy": { format: "npm", type: "proxy", ...proxy("https://registry.npmjs.org/") },
    "npm-hosted": { format: "npm", type: "hosted", files: [] },
    releases: { format: "maven2", type: "hosted", files: [] },
    images: { format: "docker", type: "hosted" },
    everything: {
      format: "pypi",
      type: "group",
      attributes: { group: { memberNames: ["pypi-hosted", "pypi-proxy"] } },
    },
    raw: { format: "raw", type: "hosted" },
  });
  const items = await planOf(stage, fake);
  assert.deepEqual(
    items.map(({ kind, source, action }) => `${kind} ${source} ${action}`),
    [
      "group npm-hosted create",
      "group npm-proxy create",
      "group pypi-hosted create",
      "group pypi-proxy create",
      "group releases create",
      "group everything cannot",
      "group images cannot",
      "group raw cannot",
      "upstream npm-proxy create",
      "project pypi-hosted/hello create",
      "file pypi-hosted/hello/hello-1.0-py3-none-any.whl create",
      "file pypi-hosted/hello/hello-1.0.tar.gz create",
      "project pypi-hosted/tool create",
      "file pypi-hosted/tool/tool-0.1.tar.gz create",
      "upstream pypi-proxy create",
    ],
  );
  const why = new Map(items.map((item) => [`${item.kind} ${item.source}`, item.why]));
  for (const [source, words] of [
    ["group everything", /is a group of other repositories: pypi-hosted, pypi-proxy/],
    ["group images", /come as oci, with --names: moorage import-from oci/],
    ["group raw", /has the format raw/],
    ["upstream npm-proxy", /whether it asks with a password is not said there/],
    ["project pypi-hosted/hello", /not read: 1 signatures/],
    ["file pypi-hosted/tool/tool-0.1.tar.gz", /does not say when it was published/],
  ] as const)
    assert.match(why.get(source) ?? "", words, source);

  const first = await apply(stage, fake);
  assert.deepEqual([first.code, first.failed], [0, []]);
  const page = (await (await registry(stage, "pypi-hosted/simple/hello/")).json()) as {
    files: Record<string, string>[];
  };
  assert.deepEqual(
    page.files.map((file) => [file["filename"], file["upload-time"], file["requires-python"]]).toSorted(),
    [
      ["hello-1.0-py3-none-any.whl", "2021-03-04T05:06:07.089Z", undefined],
      ["hello-1.0.tar.gz", "2021-03-04T05:06:07.089Z", ">=3.8"],
    ],
  );
  const sent = await registry(stage, `pypi-hosted/simple/hello/${wheel.filename}`);
  assert.deepEqual(Buffer.from(await sent.arrayBuffer()), wheel.bytes);
  const [upstream] = (
    await stage.json<{ upstreams: Record<string, unknown>[] }>("upstreams", "list", "acme/old/pypi-proxy")
  ).upstreams;
  assert.equal(upstream?.["url"], "https://pypi.org/simple");

  await appliesNothing(stage, fake);
});

test("what a Nexus answers is not trusted: each trick is refused with words, and ends nothing else", async (t) => {
  const stage = await open(t);
  const hosted = (...files: HeldAsset[]) => ({ format: "pypi", type: "hosted", files });
  const fake = await startFakeNexus(t, {
    tricks: hosted(
      sdist("good", "1.0"),
      sdist("foreign", "1.0", { downloadUrl: "http://169.254.169.254/repository/tricks/foreign-1.0.tar.gz" }),
      sdist("elsewhere", "1.0", { downloadUrl: "/service/rest/v1/script" }),
      sdist("sumless", "1.0", { checksum: { md5: "0" } }),
      sdist("lying", "1.0", { checksum: { sha256: "0".repeat(64) } }),
      sdist("redirected", "1.0"),
      { ...sdist("climbing", "1.0"), name: "../../etc" },
    ),
    endless: hosted(sdist("endless", "1.0")),
    torn: hosted(),
    UPPER: hosted(),
    odd: { format: "pypi", type: "proxy", attributes: { proxy: { remoteUrl: "file:///etc/passwd" } } },
  });
  fake.answer = (_, res, { pathname, searchParams }) => {
    const repository = searchParams.get("repository");
    if (repository === "endless") {
      // The same page again and again, with another token each time.
      const continuationToken = String(Number(searchParams.get("continuationToken") ?? 0) + 1);
      const items = [{ id: "1", name: "endless", version: "1.0", assets: [] }];
      res.writeHead(200).end(JSON.stringify({ items, continuationToken }));
      return true;
    }
    if (repository === "torn") {
      res.writeHead(200).end('{"items": ');
      return true;
    }
    if (!pathname.endsWith("redirected-1.0.tar.gz")) return false;
    res.writeHead(302, { location: "http://169.254.169.254/latest/meta-data/" }).end();
    return true;
  };
  const items = await planOf(stage, fake);
  const cannot = new Map(
    items
      .filter(({ action }) => action === "cannot")
      .map(({ kind, source, why }) => [`${kind} ${source}`, why] as const),
  );
  for (const [source, why] of [
    ["group UPPER", /"UPPER" cannot be the name/],
    ["group endless", /a list of the source leads on, and brings nothing new/],
    ["group torn", /something other than JSON/],
    ["upstream odd", /the source says no URL that an upstream can have/],
    ["project tricks/../../etc", /its name is not valid for a Python project/],
    ["file tricks/foreign/foreign-1.0.tar.gz", /is at 169\.254\.169\.254, and not at the source: not asked/],
    ["file tricks/elsewhere/elsewhere-1.0.tar.gz", /is a file of another repository/],
    ["file tricks/sumless/sumless-1.0.tar.gz", /the source says no SHA-256 of it/],
  ] as const)
    assert.match(cannot.get(source) ?? "", why, source);
  const { code, failed } = await apply(stage, fake);
  assert.deepEqual(
    [code, failed.filter(({ kind }) => kind === "file").map(({ name, why }) => `${name}: ${why}`)],
    [
      9,
      [
        "acme/old/tricks/lying/lying-1.0.tar.gz: the source sends other bytes than its sums say",
        "acme/old/tricks/redirected/redirected-1.0.tar.gz: the source redirects to 169.254.169.254: not followed",
      ],
    ],
  );
  const page = (await (await registry(stage, "tricks/simple/good/")).json()) as { files: object[] };
  assert.equal(page.files.length, 1);

  const [exit, line] = await stage.fails(...command(fake.url), "--plan", "none.json");
  assert.deepEqual(
    [exit, /does not let us read \/service\/rest\/v1\/repositories \(401\)/.test(line)],
    [7, true],
    line,
  );
});

const npm = (name: string, version: string, more: Partial<HeldAsset> = {}): HeldAsset => ({
  name,
  version,
  filename: `${name.slice(name.indexOf("/") + 1)}-${version}.tgz`,
  bytes: tarballOf({ name, version }),
  manifest: {},
  ...more,
});
const maven = (name: string, version: string, ending: string, content = ""): HeldAsset => {
  const [groupId = "", artifactId = ""] = name.split(":");
  const bytes = Buffer.from(ending === ".pom" ? pomText(groupId, artifactId, version) : `${name} ${content}`);
  return { name, version, filename: `${artifactId}-${version}${ending}`, bytes };
};
const WHEN = "2021-03-04T05:06:07.089Z";

test("hosted packages of npm come with the same bytes, times and reasons, and with exactly their tags", async (t) => {
  const stage = await open(t);
  const files = [
    npm("hello", "1.0.0", { manifest: { deprecated: "use 1.1.0" } }),
    npm("hello", "1.1.0"),
    npm("hello", "2.0.0-rc.1", { asset: { blobCreated: null, lastModified: null } }),
    // Behind a proxy a Nexus may write another scheme and port.
    npm("@acme/ui", "0.1.0", {
      manifest: { dist: { tarball: "https://127.0.0.1/repository/npm-hosted/@acme/ui/-/ui-0.1.0.tgz" } },
    }),
  ];
  const fake = await startFakeNexus(t, {
    "npm-hosted": {
      format: "npm",
      type: "hosted",
      files,
      tags: {
        hello: { latest: "1.0.0", next: "2.0.0-rc.1", stable: "1.0.0" },
        "@acme/ui": { latest: "0.1.0", old: "0.1.0" },
      },
    },
    "npm-proxy": { format: "npm", type: "proxy", attributes: { proxy: { remoteUrl: "https://registry.npmjs.org/" } } },
  });
  const items = await planOf(stage, fake);
  assert.deepEqual(
    items.map(({ kind, source, action }) => `${kind} ${source} ${action}`),
    [
      "group npm-hosted create",
      "group npm-proxy create",
      "package npm-hosted/@acme/ui create",
      "version npm-hosted/@acme/ui@0.1.0 create",
      "package npm-hosted/hello create",
      "version npm-hosted/hello@1.0.0 create",
      "version npm-hosted/hello@1.1.0 create",
      "version npm-hosted/hello@2.0.0-rc.1 create",
      "upstream npm-proxy create",
    ],
  );
  const first = await apply(stage, fake);
  assert.deepEqual([first.code, first.failed], [0, []]);
  const packument = async (name: string) =>
    (await (await get(stage, `/npm/acme/old/npm-hosted/${name}`)).json()) as {
      "dist-tags": Record<string, string>;
      versions: Record<string, { deprecated?: string }>;
      time: Record<string, string>;
    };
  const hello = await packument("hello");
  assert.deepEqual(hello["dist-tags"], { latest: "1.0.0", next: "2.0.0-rc.1", stable: "1.0.0" });
  assert.deepEqual([hello.time["1.0.0"], hello.time["1.1.0"]], [WHEN, WHEN]);
  assert.deepEqual(
    [hello.versions["1.0.0"]?.deprecated, hello.versions["1.1.0"]?.deprecated],
    ["use 1.1.0", undefined],
  );
  assert.deepEqual((await packument("@acme%2fui"))["dist-tags"], { latest: "0.1.0", old: "0.1.0" });
  for (const { name, filename, bytes } of files) {
    const sent = await get(stage, `/npm/acme/old/npm-hosted/${name}/-/${filename}`);
    assert.deepEqual(Buffer.from(await sent.arrayBuffer()), bytes);
  }
  const { upstreams } = await stage.json<{ upstreams: Record<string, unknown>[] }>(
    "upstreams",
    "list",
    "acme/old/npm-proxy",
  );
  assert.deepEqual(
    upstreams.map(({ url, ecosystem }) => [url, ecosystem]),
    [["https://registry.npmjs.org", "ECOSYSTEM_JAVASCRIPT"]],
  );
  await appliesNothing(stage, fake);
  writeFileSync(join(stage.folder, "names"), "npm-hosted/@acme/ui\n");
  assert.deepEqual(
    (await planOf(stage, fake, { flags: ["--names", "names"] })).map(
      ({ kind, source, action }) => `${kind} ${source} ${action}`,
    ),
    ["group npm-hosted same", "package npm-hosted/@acme/ui same", "version npm-hosted/@acme/ui@0.1.0 same"],
  );
});

test("hosted artifacts of Maven come with all their files; what is made here of them is not copied", async (t) => {
  const stage = await open(t);
  const files = [
    maven("org.example:app", "1.0", ".jar"),
    maven("org.example:app", "1.0", ".pom"),
    maven("org.example:app", "1.0", "-sources.jar", "sources"),
    maven("org.example:app", "1.0", ".jar.asc", "signed"),
    maven("org.example:app", "1.0", ".jar.sha1", "a sum"),
    maven("org.example:app", "1.1", ".pom"),
    maven("org.example.deep:lib", "2.0-SNAPSHOT", "-20210304.050607-1.jar"),
  ];
  files[6] = { ...(files[6] as HeldAsset), filename: "lib-2.0-20210304.050607-1.jar" };
  const fake = await startFakeNexus(t, { releases: { format: "maven2", type: "hosted", files } });
  const items = await planOf(stage, fake);
  assert.deepEqual(
    items.map(({ kind, source, action }) => `${kind} ${source} ${action}`),
    [
      "group releases create",
      "maven-artifact releases/org.example.deep:lib create",
      "maven-file releases/org/example/deep/lib/2.0-SNAPSHOT/lib-2.0-20210304.050607-1.jar create",
      "maven-artifact releases/org.example:app create",
      "maven-file releases/org/example/app/1.0/app-1.0.jar create",
      "maven-file releases/org/example/app/1.0/app-1.0.pom create",
      "maven-file releases/org/example/app/1.0/app-1.0-sources.jar create",
      "maven-file releases/org/example/app/1.0/app-1.0.jar.asc create",
      "maven-file releases/org/example/app/1.1/app-1.1.pom create",
    ],
  );
  const first = await apply(stage, fake);
  assert.deepEqual([first.code, first.failed], [0, []]);
  for (const { name, version, filename, bytes } of files.filter((each) => !each.filename.endsWith(".sha1"))) {
    const path = `/maven/acme/old/releases/-/${name.replaceAll(/[.:]/g, "/")}/${version}/${filename}`;
    const sent = await get(stage, path);
    assert.deepEqual(Buffer.from(await sent.arrayBuffer()), bytes, path);
  }
  const metadata = await (await get(stage, "/maven/acme/old/releases/-/org/example/app/maven-metadata.xml")).text();
  assert.match(metadata, /<release>1\.1<\/release>/);
  // No answer shows it: policies of a group above may look at it.
  const { store, close } = await openTestStore(join(stage.folder, "data"));
  const rows = await store.reader.selectFrom("artifact_versions").select(["version", "publish_time"]).execute();
  await close();
  assert.deepEqual(
    rows.map(({ version, publish_time: ms }) => [version, new Date(Number(ms)).toISOString()]).toSorted(),
    ["1.0", "1.1", "2.0-SNAPSHOT"].map((version) => [version, WHEN]),
  );
  await appliesNothing(stage, fake);
  assert.ok((await planOf(stage, fake)).every(({ action }) => action === "same"));
});

test("what a Nexus says of packages and artifacts is not trusted either", async (t) => {
  const stage = await open(t);
  const lying = { checksum: { sha1: "0".repeat(40) } };
  const elsewhere = (path: string): Partial<HeldAsset> => ({
    manifest: { dist: { tarball: path, shasum: "0".repeat(40) } },
  });
  const fake = await startFakeNexus(t, {
    npm: {
      format: "npm",
      type: "hosted",
      files: [
        npm("good", "1.0.0"),
        npm("lying", "1.0.0", { asset: lying }),
        npm("foreign", "1.0.0", elsewhere("http://169.254.169.254/repository/npm/foreign/-/foreign-1.0.0.tgz")),
        npm("climbing", "1.0.0", elsewhere("/repository/npm/../../service/rest/v1/script")),
        npm("unlisted", "1.0.0", elsewhere("/repository/npm/unlisted/-/unlisted-9.9.9.tgz")),
        npm("../../etc", "1.0.0"),
        npm("Upper", "1.0.0"),
      ],
      tags: { good: { latest: "1.0.0", gone: "0.9.0" } },
    },
    maven: {
      format: "maven2",
      type: "hosted",
      files: [
        maven("org.example:good", "1.0", ".pom"),
        { ...maven("org.example:lying", "1.0", ".jar"), asset: lying },
        { ...maven("org.example:up", "1.0", ".jar"), asset: { path: "org/example/../../../../etc/passwd" } },
        { ...maven("org.example:sumless", "1.0", ".jar"), asset: { checksum: { md5: "0" } } },
        { ...maven("org.example:odd", "1.0", ".jar"), asset: { path: "a<b>/c/1.0/c-1.0.jar" } },
        {
          ...maven("org.example:foreign", "1.0", ".jar"),
          asset: { downloadUrl: "http://169.254.169.254/repository/maven/x" },
        },
      ],
    },
  });
  const items = await planOf(stage, fake);
  const cannot = new Map(
    items.flatMap(({ kind, source, action, why }) =>
      action === "cannot" ? [[`${kind} ${source}`, why] as const] : [],
    ),
  );
  for (const [source, why] of [
    ["version npm/foreign@1.0.0", /is at 169\.254\.169\.254, and not at the source: not asked/],
    ["version npm/climbing@1.0.0", /is not among the files of its repository/],
    ["version npm/unlisted@1.0.0", /is not among the files of its repository/],
    ["version npm/unlisted@unlisted-1.0.0.tgz", /is stored there, and no version of its packument has it/],
    ["package npm/Upper", /its name is not valid for an npm package here/],
    ["package npm/../../etc", /its name is not valid|cannot be/],
    ["maven-file maven/org/example/sumless/1.0/sumless-1.0.jar", /the source says no sum of it/],
    ["maven-file maven/org/example/foreign/1.0/foreign-1.0.jar", /is at 169\.254\.169\.254/],
  ] as const)
    assert.match(cannot.get(source) ?? "", why, `${source} in ${[...cannot.keys()].join("\n")}`);
  assert.equal(
    items.some(({ source, action }) => action !== "cannot" && (source.includes("..") || source.includes("<"))),
    false,
  );
  const { code, failed } = await apply(stage, fake);
  const files = failed.filter(({ kind }) => kind === "version" || kind === "maven-file");
  assert.deepEqual(
    [code, files.map(({ name, why }) => `${name}: ${why}`).toSorted()],
    [
      9,
      [
        "acme/old/maven/org/example/lying/1.0/lying-1.0.jar: the source sends other bytes than its sums say",
        "acme/old/npm/lying@1.0.0: the source sends other bytes than its sums say",
      ],
    ],
  );
  assert.equal((await get(stage, "/npm/acme/old/npm/good")).status, 200);
  assert.equal((await get(stage, "/npm/acme/old/npm/lying")).status, 404);
});
