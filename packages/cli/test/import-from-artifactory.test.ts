// The npm packages, Python projects and Maven artifacts of an Artifactory move in. It is a fake, see
// fake-artifactory.ts.
import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { sized } from "../../server/test/support/extent.ts";
import { pomText } from "../../server/test/support/maven.ts";
import { tarballOf } from "../../server/test/support/npm.ts";
import { sdistOf, wheelOf } from "../../server/test/support/pypi.ts";
import { started } from "./command-kills.ts";
import { CREATED, READER, startFakeArtifactory, type StoredItem } from "./fake-artifactory.ts";
import { get, packageImport } from "./package-import.ts";
import { BUILD, openStage, type Stage } from "./tasks-stage.ts";

const npm = (name: string, version: string, more: Partial<StoredItem> & { deprecated?: string } = {}): StoredItem => {
  const { deprecated, manifest, ...rest } = more;
  return {
    path: `${name}/-/${name}-${version}.tgz`,
    bytes: tarballOf({ name, version }),
    manifest: { name, version, ...(deprecated !== undefined && { deprecated }), ...manifest },
    ...rest,
  };
};
const python = (name: string, version: string, item: Record<string, unknown> = {}): StoredItem => {
  const { filename, bytes } = sdistOf({ name, version });
  return { path: `${name}/${version}/${filename}`, bytes, item };
};
const maven = (groupId: string, artifactId: string, version: string, ending: string): StoredItem => ({
  path: `${groupId.replaceAll(".", "/")}/${artifactId}/${version}/${artifactId}-${version}${ending}`,
  bytes: Buffer.from(ending === ".pom" ? pomText(groupId, artifactId, version) : `${artifactId} ${version} ${ending}`),
});
const remote = (packageType: string, config: object | undefined) => ({
  packageType,
  type: "REMOTE",
  ...(config !== undefined && { config: { rclass: "remote", ...config } }),
});

const { open, command, pull, planOf, apply, appliesNothing } = packageImport("artifactory", READER);
interface Packument {
  "dist-tags": Record<string, string>;
  versions: Record<string, { deprecated?: string }>;
  time: Record<string, string>;
}
const packument = async (stage: Stage, path: string): Promise<Packument> =>
  (await (await get(stage, `/npm/acme/old/${path}`)).json()) as Packument;

test("local repositories come as groups, remote ones as upstreams, and the plan names all others", async (t) => {
  const stage = await open(t);
  const wheel = wheelOf({ name: "hello", version: "1.0" });
  const files = {
    npm: [
      npm("hello", "1.0.0", { deprecated: "use 1.1.0" }),
      npm("hello", "1.1.0"),
      npm("hello", "2.0.0-rc.1"),
      npm("@acme/ui", "0.1.0", { path: "@acme/ui/-/@acme/ui-0.1.0.tgz" }),
      { path: ".npm/hello/package.json", bytes: Buffer.from("{}") },
    ],
    pypi: [{ path: `hello/1.0/${wheel.filename}`, bytes: wheel.bytes }, python("hello", "1.0")],
    maven: [
      maven("org.example", "app", "1.0", ".jar"),
      maven("org.example", "app", "1.0", ".pom"),
      { path: "org/example/app/maven-metadata.xml", bytes: Buffer.from("<metadata/>") },
    ],
  };
  const fake = await startFakeArtifactory(t, {
    "npm-local": {
      packageType: "Npm",
      type: "LOCAL",
      files: files.npm,
      // No tag points to the newest, and none is made up: jfrog/nexus2artifactory#40.
      tags: { hello: { latest: "1.0.0", next: "2.0.0-rc.1" }, "@acme/ui": { latest: "0.1.0", old: "0.1.0" } },
    },
    "pypi-local": { packageType: "Pypi", type: "LOCAL", files: files.pypi },
    "maven-local": { packageType: "Maven", type: "FEDERATED", files: files.maven },
    "docker-remote": remote("Docker", { url: "https://registry-1.docker.io/" }),
    "docker-unread": { packageType: "Docker", type: "LOCAL" },
    "generic-local": { packageType: "Generic", type: "LOCAL" },
    "npm-remote": remote("Npm", { url: "https://registry.npmjs.org/", includesPattern: "**/*" }),
    "pypi-remote": remote("Pypi", {
      url: "https://files.pythonhosted.org",
      pyPIRegistryUrl: "https://pypi.org",
      username: "robot",
    }),
    "filtered-remote": remote("Maven", { url: "https://repo1.maven.org/maven2/", excludesPattern: "com/acme/**" }),
    "closed-remote": { ...remote("Maven", undefined), url: "https://repo.example.com/maven" },
    "hidden-remote": remote("Maven", undefined),
    everything: {
      packageType: "Npm",
      type: "VIRTUAL",
      config: { rclass: "virtual", repositories: ["npm-local", "npm-remote"] },
    },
  });
  const items = await planOf(stage, fake);
  assert.deepEqual(
    items.filter(({ kind }) => kind !== "group").map(({ kind, source, action }) => `${kind} ${source} ${action}`),
    [
      "upstream closed-remote create",
      "upstream filtered-remote create",
      "upstream hidden-remote cannot",
      "maven-artifact maven-local/org.example:app create",
      "maven-file maven-local/org/example/app/1.0/app-1.0.jar create",
      "maven-file maven-local/org/example/app/1.0/app-1.0.pom create",
      "package npm-local/@acme/ui create",
      "version npm-local/@acme/ui@0.1.0 create",
      "package npm-local/hello create",
      "version npm-local/hello@1.0.0 create",
      "version npm-local/hello@1.1.0 create",
      "version npm-local/hello@2.0.0-rc.1 create",
      "upstream npm-remote create",
      "project pypi-local/hello create",
      "file pypi-local/hello/hello-1.0-py3-none-any.whl create",
      "file pypi-local/hello/hello-1.0.tar.gz create",
      "upstream pypi-remote create",
    ],
  );
  const why = new Map(items.map((item) => [`${item.kind} ${item.source}`, item.why]));
  for (const [source, words] of [
    ["group everything", /is a virtual repository: npm-local, npm-remote/],
    ["group docker-remote", /is a cache of another registry, whose images do not come/],
    ["group docker-unread", /does not list its repositories: name them in a file with --names/],
    ["group generic-local", /has the type generic, which is not served here/],
    ["upstream hidden-remote", /says only its own address, and not what it asks/],
    ["upstream closed-remote", /may not be read by these credentials.*disabled/],
    ["upstream pypi-remote", /its password stays there: the upstream is disabled/],
    ["upstream filtered-remote", /not com\/acme\/\*\*\): the upstream is disabled/],
  ] as const)
    assert.match(why.get(source) ?? "", words, source);

  const first = await apply(stage, fake);
  assert.deepEqual([first.code, first.failed], [0, []]);
  const hello = await packument(stage, "npm-local/hello");
  assert.deepEqual(hello["dist-tags"], { latest: "1.0.0", next: "2.0.0-rc.1" });
  assert.deepEqual([hello.time["1.0.0"], hello.versions["1.0.0"]?.deprecated], [CREATED, "use 1.1.0"]);
  assert.deepEqual((await packument(stage, "npm-local/@acme%2fui"))["dist-tags"], { latest: "0.1.0", old: "0.1.0" });
  const simple = await get(stage, "/pypi/acme/old/pypi-local/simple/hello/", "application/vnd.pypi.simple.v1+json");
  const page = (await simple.json()) as { files: Record<string, string>[] };
  assert.deepEqual(
    page.files.map((file) => file["upload-time"]),
    [CREATED, CREATED],
  );
  for (const [path, { bytes }] of [
    ["/npm/acme/old/npm-local/hello/-/hello-1.1.0.tgz", files.npm[1]],
    ["/npm/acme/old/npm-local/@acme/ui/-/ui-0.1.0.tgz", files.npm[3]],
    [`/pypi/acme/old/pypi-local/simple/hello/${wheel.filename}`, files.pypi[0]],
    ["/maven/acme/old/maven-local/-/org/example/app/1.0/app-1.0.jar", files.maven[0]],
  ] as [string, StoredItem][])
    assert.deepEqual(Buffer.from(await (await get(stage, path)).arrayBuffer()), bytes, path);
  const upstreamOf = async (group: string): Promise<[unknown, unknown]> => {
    const { upstreams } = await stage.json<{ upstreams: Record<string, unknown>[] }>(
      "upstreams",
      "list",
      `acme/old/${group}`,
    );
    return [upstreams[0]?.["url"], upstreams[0]?.["disabled"] ?? false];
  };
  assert.deepEqual(await upstreamOf("npm-remote"), ["https://registry.npmjs.org", false]);
  assert.deepEqual(await upstreamOf("pypi-remote"), ["https://pypi.org/simple", true]);
  assert.deepEqual(await upstreamOf("closed-remote"), ["https://repo.example.com/maven", true]);
  assert.deepEqual(await upstreamOf("filtered-remote"), ["https://repo1.maven.org/maven2", true]);

  await appliesNothing(stage, fake);
});

test("images of a Docker repository follow it until the end, beside what is copied", async (t) => {
  const there = await openStage(t);
  const here = await openStage(t, { MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  await here.ok("groups", "create", "acme/old");
  await there.push("acme/app:1.0", 1);
  await there.push("acme/team/web:3", 3);
  const fake = await startFakeArtifactory(
    t,
    {
      acme: { packageType: "Docker", type: "LOCAL", images: ["app", "team/web", "../../etc", "Upper"] },
      npm: { packageType: "Npm", type: "LOCAL", files: [npm("hello", "1.0.0")], tags: { hello: { latest: "1.0.0" } } },
    },
    there.url,
  );
  fake.password = (await there.ok("token")).trim();
  writeFileSync(join(here.folder, "password"), fake.password);
  const items = await planOf(here, fake);
  assert.deepEqual(items.map(({ kind, source, action }) => `${kind} ${source} ${action}`).toSorted(), [
    "group acme create",
    "group acme/team create",
    "group npm create",
    "package npm/hello create",
    "repo acme/../../etc cannot",
    "repo acme/Upper cannot",
    "repo acme/app create",
    "repo acme/team/web create",
    "tag acme/app:1.0 create",
    "tag acme/team/web:3 create",
    "version npm/hello@1.0.0 create",
  ]);
  const first = await apply(here, fake);
  assert.deepEqual([first.code, first.failed], [0, []]);
  await here.ok("images", "inspect", `acme/old/acme/app@${BUILD[1]}`);
  await here.ok("images", "inspect", "acme/old/acme/team/web:3");
  assert.equal((await get(here, "/npm/acme/old/npm/hello")).status, 200);
  const again = await apply(here, fake);
  assert.deepEqual(
    again.counts.filter(({ done }) => Number(done) > 0),
    [],
  );
  const { code, stdout } = await here.run([...command(fake.url), "--apply", "plan.json", "--finish", ...pull]);
  assert.deepEqual([code, (JSON.parse(stdout) as { finished: number }).finished], [0, 2], stdout);
  const { repos } = await here.json<{ repos: { syncConfig?: object }[] }>("repos", "list", "acme/old");
  assert.deepEqual(
    repos.map(({ syncConfig }) => syncConfig),
    [undefined, undefined],
  );
});

test("a repository of more files than an answer has is read whole, or not at all", async (t) => {
  const stage = await open(t);
  const files = Array.from({ length: 1_003 }, (_, at) => maven("org.example", `a${at}`, "1.0", ".pom"));
  const repository = { packageType: "Maven", type: "LOCAL", files };
  const fake = await startFakeArtifactory(t, { many: repository, trimmed: repository, endless: repository });
  fake.answer = (_req, res, _url, body) => {
    if (body.includes('"repo":"trimmed"')) {
      const range = { notification: "AQL query reached the search hard limit, results are trimmed." };
      res.writeHead(200).end(JSON.stringify({ results: [], range }));
      return true;
    }
    if (!body.includes('"repo":"endless"')) return false;
    const results = Array.from({ length: 1_000 }, (_, at) => ({
      repo: "endless",
      path: "a/b/1.0",
      name: `b-1.0-${at}`,
    }));
    res.writeHead(200).end(JSON.stringify({ results, range: {} }));
    return true;
  };
  const items = await planOf(stage, fake);
  assert.equal(items.filter(({ kind, action }) => kind === "maven-file" && action === "create").length, 1_003);
  const why = new Map(items.map((item) => [`${item.kind} ${item.source}`, item.why]));
  assert.match(why.get("group trimmed") ?? "", /cuts its list of files off: AQL query reached the search hard limit/);
  assert.match(why.get("group endless") ?? "", /leads on, and brings nothing new/);
});

test("what an Artifactory answers is not trusted: each trick is refused with words, and ends nothing else", async (t) => {
  const stage = await open(t);
  const lying = { sha256: "0".repeat(64), actual_sha1: "0".repeat(40) };
  const tarball = (url: string): Partial<StoredItem> => ({
    manifest: { dist: { tarball: url, shasum: "0".repeat(40) } },
  });
  const local = (packageType: string, files: StoredItem[]) => ({ packageType, type: "LOCAL", files });
  const fake = await startFakeArtifactory(t, {
    npm: local("Npm", [
      npm("good", "1.0.0"),
      npm("lying", "1.0.0", { item: lying }),
      npm("redirected", "1.0.0"),
      npm("foreign", "1.0.0", tarball("http://169.254.169.254/artifactory/api/npm/npm/foreign/-/foreign-1.0.0.tgz")),
      npm("climbing", "1.0.0", tarball("/artifactory/api/npm/npm/../../security/users")),
      npm("../../etc", "1.0.0"),
      npm("Upper", "1.0.0"),
    ]),
    pypi: local("Pypi", [
      python("good", "1.0"),
      python("lying", "1.0", lying),
      python("sumless", "1.0", { sha256: "nonsense" }),
      python("climbing", "1.0", { path: "climbing/../.." }),
      { ...python("flat", "1.0"), path: "flat-1.0.tar.gz" },
    ]),
    maven: local("Maven", [
      maven("org.example", "good", "1.0", ".pom"),
      { ...maven("org.example", "lying", "1.0", ".jar"), item: lying },
      { ...maven("org.example", "up", "1.0", ".jar"), item: { path: "org/example/../../../etc/1.0" } },
      { ...maven("org.example", "odd", "1.0", ".jar"), item: { path: "a<b>/c/1.0", name: "c-1.0.jar" } },
      { ...maven("org.example", "bent", "1.0", ".jar"), item: { path: "org\\example/bent/1.0" } },
    ]),
    torn: local("Npm", []),
    moved: local("Npm", []),
    other: local("Npm", []),
    UPPER: local("Npm", []),
    odd: remote("Npm", { url: "file:///etc/passwd" }),
  });
  fake.answer = (_req, res, { pathname }, body) => {
    if (body.includes('"repo":"torn"')) res.writeHead(200).end('{"results": ');
    else if (body.includes('"repo":"moved"'))
      res.writeHead(307, { location: "http://169.254.169.254/latest/meta-data/" }).end();
    else if (body.includes('"repo":"other"'))
      res.writeHead(200).end(JSON.stringify({ results: [{ repo: "npm", path: "a/-", name: "a-1.0.0.tgz" }] }));
    else if (pathname.endsWith("redirected-1.0.0.tgz") && !pathname.includes("/api/"))
      res.writeHead(302, { location: "http://169.254.169.254/latest/meta-data/" }).end();
    else return false;
    return true;
  };
  const items = await planOf(stage, fake);
  const cannot = new Map(
    items.flatMap(({ kind, source, action, why }) =>
      action === "cannot" ? [[`${kind} ${source}`, why] as const] : [],
    ),
  );
  for (const [source, why] of [
    ["group UPPER", /"UPPER" cannot be the name/],
    ["group torn", /something other than JSON/],
    ["group moved", /redirects a query: not followed/],
    ["group other", /lists files of another repository/],
    ["upstream odd", /says no URL that an upstream can have/],
    ["version npm/foreign@1.0.0", /is at 169\.254\.169\.254, and not at the source: not asked/],
    ["version npm/climbing@1.0.0", /is not among the files of its repository/],
    ["package npm/../../etc", /its name is not valid/],
    ["package npm/Upper", /its name is not valid/],
    ["file pypi/sumless/sumless-1.0.tar.gz", /says no SHA-256 of it/],
    ["file pypi/climbing/climbing-1.0.tar.gz", /its path is not that of a file/],
    ["file pypi/flat-1.0.tar.gz/flat-1.0.tar.gz", /its path does not say its project and version/],
  ] as const)
    assert.match(cannot.get(source) ?? "", why, `${source} of ${[...cannot.keys()].join(", ")}`);
  const creates = items.filter(({ action }) => action !== "cannot").map(({ source }) => source);
  assert.deepEqual(
    creates.filter((source) => /\.\.|[<\\]/.test(source)),
    [],
  );
  const { code, failed } = await apply(stage, fake);
  const files = failed.filter(({ kind }) => ["version", "file", "maven-file"].includes(kind));
  assert.deepEqual(
    [code, files.map(({ name, why }) => `${name}: ${why}`).toSorted()],
    [
      9,
      [
        "acme/old/maven/org/example/lying/1.0/lying-1.0.jar: the source sends other bytes than its sums say",
        "acme/old/npm/lying@1.0.0: the source sends other bytes than its sums say",
        "acme/old/npm/redirected@1.0.0: the source redirects to 169.254.169.254: not followed",
        "acme/old/pypi/lying/lying-1.0.tar.gz: the source sends other bytes than its sums say",
      ],
    ],
  );
  assert.equal((await get(stage, "/npm/acme/old/npm/good")).status, 200);
  assert.equal((await get(stage, "/maven/acme/old/maven/-/org/example/good/1.0/good-1.0.pom")).status, 200);
  const [exit, line] = await stage.fails(...command(fake.url), "--plan", "none.json");
  assert.deepEqual([exit, /does not let us read \/artifactory\/api\/repositories \(401\)/.test(line)], [7, true], line);
});

test("killed at any point, the same command goes on, and ends where it would have", async (t) => {
  const stage = await open(t);
  const token = (await stage.ok("token")).trim();
  const fake = await startFakeArtifactory(t, {
    npm: {
      packageType: "Npm",
      type: "LOCAL",
      files: ["1.0.0", "1.1.0"].map((version) => npm("app", version)),
      tags: { app: { latest: "1.0.0", beta: "1.1.0" } },
    },
    maven: {
      packageType: "Maven",
      type: "LOCAL",
      files: [".jar", ".pom"].map((ending) => maven("org.example", "app", "1.0", ending)),
    },
    remote: remote("Npm", { url: "https://registry.npmjs.org" }),
  });
  const stateOf = async (into: string) => {
    const found = await get(stage, `/npm/${into}/npm/app`);
    const { "dist-tags": tags, time } = (await found.json()) as Packument;
    const jar = await get(stage, `/maven/${into}/maven/-/org/example/app/1.0/app-1.0.jar.sha256`);
    const { upstreams } = await stage.json<{ upstreams: Record<string, unknown>[] }>(
      "upstreams",
      "list",
      `${into}/remote`,
    );
    return { tags, times: [time["1.0.0"], time["1.1.0"]], jar: await jar.text(), url: upstreams[0]?.["url"] };
  };
  const prepare = async (into: string): Promise<void> => {
    await stage.ok("groups", "create", into);
    await planOf(stage, fake, { into });
  };
  await prepare("acme/whole");
  const before = fake.seen.length;
  assert.deepEqual((await apply(stage, fake, "acme/whole")).failed, []);
  const requests = fake.seen.length - before;
  const expected = await stateOf("acme/whole");
  assert.deepEqual(expected.tags, { latest: "1.0.0", beta: "1.1.0" });
  const points = sized(3, requests);
  for (let point = 1; point <= points; point += 1) {
    const into = `acme/killed${point}`;
    await prepare(into);
    const child = started(stage, [...command(fake.url, into), "--apply", "plan.json", ...pull], {
      url: stage.url,
      token,
    });
    const last = fake.seen.length + Math.ceil((point * requests) / points);
    fake.answer = () => {
      if (fake.seen.length >= last) child.kill("SIGKILL");
      return false;
    };
    await once(child, "exit");
    fake.answer = () => false;
    assert.deepEqual((await apply(stage, fake, into)).failed, []);
    assert.deepEqual(await stateOf(into), expected, `killed at request ${point} of ${points}`);
  }
});
