// The projects of a devpi-server move in. It is a fake, see fake-devpi.ts.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { sized } from "../../server/test/support/extent.ts";
import { started } from "./command-kills.ts";
import { type FakeDevpi, READER, sdist, stage as index, startFakeDevpi, wheel } from "./fake-devpi.ts";
import { openStage, type Stage } from "./tasks-stage.ts";

const WHEN = [2021, 3, 4, 5, 6, 7];
const OLD = "2021-03-04T05:06:07.000Z";
const JSON_TYPE = "application/vnd.pypi.simple.v1+json";

interface Item {
  kind: string;
  source: string;
  action: string;
  why: string;
}
interface Ended {
  kind: string;
  name: string;
  why: string;
}
interface Report {
  counts: Record<string, number | string>[];
  failed: Ended[];
  kept: Ended[];
}
interface Page {
  files: { filename: string; hashes: { sha256: string }; "upload-time": string; yanked: boolean | string }[];
}

const READ = ["--username", READER.user, "--password-file", "password"];
const PULL = ["--pull-username", READER.user, "--pull-password-file", "password"];

async function open(t: TestContext): Promise<Stage> {
  const stage = await openStage(t);
  writeFileSync(join(stage.folder, "password"), READER.password);
  await stage.ok("groups", "create", "acme/old");
  return stage;
}
const command = (url: string, into = "acme/old"): string[] => ["import-from", "devpi", url, "--into", into];

async function planOf(stage: Stage, { url }: FakeDevpi, ...flags: string[]): Promise<Item[]> {
  await stage.ok(...command(url), "--plan", "plan.json", ...READ, ...flags);
  return (JSON.parse(readFileSync(join(stage.folder, "plan.json"), "utf8")) as { items: Item[] }).items;
}

async function apply(stage: Stage, { url }: FakeDevpi): Promise<Report & { code: number }> {
  const { code, stdout, stderr } = await stage.run([...command(url), "--apply", "plan.json", ...PULL, "-o", "json"]);
  assert.ok(code === 0 || code === 9, stderr);
  return { ...(JSON.parse(stdout) as Report), code };
}

async function registry(stage: Stage, path: string): Promise<Response> {
  const token = (await stage.ok("token")).trim();
  return fetch(`${stage.url}/pypi/${path}`, { headers: { authorization: `Bearer ${token}`, accept: JSON_TYPE } });
}
const pageOf = async (stage: Stage, project: string, group: string): Promise<Page> =>
  (await (await registry(stage, `${group}/simple/${project}/`)).json()) as Page;
const lines = (items: readonly Item[]): string[] =>
  items.map(({ kind, source, action }) => `${kind} ${source} ${action}`);
const whyOf = (items: readonly Item[], source: string): string =>
  items.find((item) => item.source === source)?.why ?? "";

test("indexes come as groups, with the same bytes, times and yanks; the same again changes nothing", async (t) => {
  const stage = await open(t);
  const hello = { name: "Hello_World", version: "1.0" };
  const fake = await startFakeDevpi(t, {
    "root/pypi": { config: { type: "mirror", mirror_url: "https://pypi.org/simple/", volatile: false } },
    "root/closed": { config: { type: "mirror", mirror_url: "https://me:secret@python.example.com/simple/" } },
    "alice/dev": index(
      {
        "hello-world": {
          "1.0": {
            files: [wheel(hello, { when: WHEN }), sdist(hello, { when: [2022, 1, 1, 0, 0, 0] })],
            data: { name: "Hello_World", summary: "Says hello", requires_python: ">=3.8" },
            links: [
              { rel: "toxresult", href: "x", hash_spec: "" },
              { rel: "toxresult", href: "y", hash_spec: "" },
              { rel: "doczip", href: "z", hash_spec: "" },
            ],
          },
          "1.1": {
            files: [wheel({ ...hello, version: "1.1" }, { when: WHEN, link: { yanked: "does not say hello" } })],
            data: { name: "Hello_World" },
          },
          "1.2": { files: [] },
        },
        undated: { "0.1": { files: [sdist({ name: "undated", version: "0.1" })] } },
      },
      { bases: ["root/pypi"], acl_upload: ["alice", "bob"] },
    ),
    "alice/prod": index({}, { bases: ["alice/dev", "root/pypi"] }),
  });
  const items = await planOf(stage, fake);
  assert.deepEqual(lines(items), [
    "group alice create",
    "group alice/dev create",
    "group alice/prod create",
    "group root create",
    "group root/closed create",
    "group root/pypi create",
    "project alice/dev/hello-world create",
    "file alice/dev/hello-world/hello_world-1.0-py3-none-any.whl create",
    "file alice/dev/hello-world/hello_world-1.0.tar.gz create",
    "file alice/dev/hello-world/hello_world-1.1-py3-none-any.whl create",
    "project alice/dev/undated create",
    "file alice/dev/undated/undated-0.1.tar.gz create",
    "upstream alice/dev create",
    "upstream alice/prod cannot",
    "upstream root/closed create",
    "upstream root/pypi create",
  ]);
  assert.match(whyOf(items, "alice/dev"), /who may upload there does not come: alice, bob/);
  assert.match(
    whyOf(items, "alice/dev/hello-world"),
    /2 results of tests, 1 documentation archives, 1 versions without files/,
  );
  assert.match(whyOf(items, "alice/dev/undated/undated-0.1.tar.gz"), /does not say when it was published/);
  const upstreams = items.filter(({ kind }) => kind === "upstream");
  assert.match(whyOf(upstreams, "alice/prod"), /inherits from alice\/dev, root\/pypi/);
  assert.match(whyOf(upstreams, "root/closed"), /its password stays there/);
  assert.doesNotMatch(readFileSync(join(stage.folder, "plan.json"), "utf8"), /secret/);
  assert.equal((await registry(stage, "acme/old/alice/dev/simple/hello-world/")).status, 404, "a plan changes nothing");

  const first = await apply(stage, fake);
  assert.deepEqual([first.code, first.failed, first.kept], [0, [], []]);
  const { files } = await pageOf(stage, "hello-world", "acme/old/alice/dev");
  assert.deepEqual(Object.fromEntries(files.map((file) => [file.filename, [file["upload-time"], file.yanked]])), {
    "hello_world-1.0-py3-none-any.whl": [OLD, false],
    "hello_world-1.0.tar.gz": ["2022-01-01T00:00:00.000Z", false],
    "hello_world-1.1-py3-none-any.whl": [OLD, "does not say hello"],
  });
  for (const { filename, bytes } of fake.indexes["alice/dev"]?.projects?.["hello-world"]?.["1.0"]?.files ?? []) {
    const sent = await registry(stage, `acme/old/alice/dev/simple/hello-world/${filename}`);
    assert.deepEqual(Buffer.from(await sent.arrayBuffer()), bytes);
  }
  const [dev] = (await stage.json<{ upstreams: Record<string, unknown>[] }>("upstreams", "list", "acme/old/alice/dev"))
    .upstreams;
  assert.deepEqual([dev?.["url"], dev?.["disabled"]], ["https://pypi.org/simple", false]);

  const before = fake.seen.length;
  const again = await apply(stage, fake);
  assert.deepEqual(
    again.counts.filter(({ done }) => Number(done) > 0),
    [],
  );
  assert.deepEqual(
    fake.seen.slice(before).filter((path) => path.includes("/+f/")),
    [],
    "nothing is fetched twice",
  );
  writeFileSync(join(stage.folder, "names"), "alice/dev/undated\nalice/none\n");
  assert.deepEqual(lines(await planOf(stage, fake, "--names", "names")), [
    "group alice/none cannot",
    "group alice same",
    "group alice/dev same",
    "project alice/dev/undated same",
    "file alice/dev/undated/undated-0.1.tar.gz same",
    "upstream alice/dev same",
  ]);
});

test("what was changed here stays so: other bytes, removed versions, upstreams", async (t) => {
  const stage = await open(t);
  const of = (version: string) => ({ name: "app", version });
  const mine = sdist({ ...of("1.0"), summary: "theirs" }, { when: WHEN });
  const fake = await startFakeDevpi(t, {
    "root/pypi": { config: { type: "mirror", mirror_url: "https://pypi.org/simple" } },
    "a/dev": index({ app: { "1.0": { files: [mine] }, "2.0": { files: [sdist(of("2.0"))] } } }),
  });
  for (const group of ["acme/old/a", "acme/old/a/dev", "acme/old/root", "acme/old/root/pypi"])
    await stage.ok("groups", "create", group);
  const upload = async (summary: string): Promise<void> => {
    const { filename, bytes } = sdist({ ...of("1.0"), summary });
    const form = new FormData();
    for (const [field, value] of Object.entries({ ":action": "file_upload", ...of("1.0") })) form.append(field, value);
    form.append("content", new Blob([new Uint8Array(bytes)]), filename);
    const headers = { authorization: `Bearer ${(await stage.ok("token")).trim()}` };
    const answer = await fetch(`${stage.url}/pypi/acme/old/a/dev/legacy/`, { method: "POST", headers, body: form });
    assert.equal(answer.status, 200);
  };
  await planOf(stage, fake);
  await upload("ours");
  const flags = ["--ecosystem", "python", "--upstream-url", "https://python.example.com/simple"];
  await stage.ok("upstreams", "create", "acme/old/root/pypi", ...flags);
  const first = await apply(stage, fake);
  assert.deepEqual(
    [first.code, first.failed.map(({ name, why }) => `${name}: ${why}`)],
    [9, ["acme/old/a/dev/app/app-1.0.tar.gz: is here with other bytes, or with a sum that cannot be compared"]],
  );
  assert.deepEqual(
    first.kept.map(({ name, why }) => `${name}: ${why}`),
    ["root/pypi: the group has the upstream https://python.example.com/simple here"],
  );
  assert.equal((await pageOf(stage, "app", "acme/old/a/dev")).files.length, 2);
  const planned = await planOf(stage, fake);
  assert.deepEqual(
    planned.filter(({ action }) => action === "cannot").map(({ source, why }) => `${source}: ${why}`),
    [
      "a/dev/app/app-1.0.tar.gz: is here with other bytes",
      "root/pypi: the group has the upstream https://python.example.com/simple here",
    ],
  );
  await stage.ok("libraries", "delete-version", "acme/old/a/dev:app@2.0", "--yes");
  const removed = await apply(stage, fake);
  assert.deepEqual(
    [removed.code, removed.kept.map(({ name, why }) => `${name}: ${why}`)],
    [0, ["acme/old/a/dev/app/app-2.0.tar.gz: its version was removed here"]],
  );
});

test("what devpi answers is not trusted: each trick is refused with words, and ends nothing else", async (t) => {
  const stage = await open(t);
  const one = (name: string, link: Record<string, unknown> = {}) => ({
    "1.0": { files: [sdist({ name, version: "1.0" }, { when: WHEN, link })] },
  });
  const sha256 = (digit: string): string => digit.repeat(64);
  const fake = await startFakeDevpi(t, {
    "a/dev": index(
      {
        good: one("good"),
        "../../../etc": one("etc"),
        A_b: one("a-b"),
        "a.b": one("a-b"),
        foreign: one("foreign", { href: "http://169.254.169.254/a/dev/+f/foreign-1.0.tar.gz" }),
        inherited: one("inherited", { href: "/b/dev/+f/abc/inherited-1.0.tar.gz" }),
        sumless: one("sumless", { hash_spec: "", hashes: {} }),
        weak: one("weak", { hash_spec: `md5=${"0".repeat(32)}`, hashes: undefined }),
        lying: one("lying", { hash_spec: `sha256=${sha256("0")}`, hashes: { sha256: sha256("0") } }),
        torn: one("torn", { hash_spec: `sha256=${sha256("0")}` }),
        climbing: one("climbing", { href: "/a/dev/+f/abc/%2e%2e%2fclimbing-1.0.tar.gz" }),
        egg: { "1.0": { files: [{ filename: "egg-1.0-py2.7.egg", bytes: Buffer.from("egg") }] } },
        future: { "1.0": { files: [sdist({ name: "future", version: "1.0" }, { when: [2999, 1, 1, 0, 0, 0] })] } },
        ancient: { "1.0": { files: [sdist({ name: "ancient", version: "1.0" }, { when: [1, "x"] as never })] } },
        numberless: { latest: { files: [sdist({ name: "numberless", version: "1.0" })] } },
        endless: one("endless"),
        moved: one("moved"),
        broken: one("broken"),
        redirected: one("redirected"),
      },
      { bases: ["root/pypi"] },
    ),
    "root/pypi": { config: { type: "mirror", mirror_url: "file:///etc/passwd" } },
    "a/UPPER": index({}),
    "a/odd": { config: { type: "constrained", bases: ["a/dev"] } },
    "a/locked": index({}),
    "a/unlisted": index({}),
  });
  fake.answer = (_, res, path) => {
    if (path === "/a/dev/endless") {
      res.writeHead(200, { "content-type": "application/json" });
      const more = (): void => {
        while (res.write(" ".repeat(1 << 20)));
        if (!res.destroyed) res.once("drain", more);
      };
      more();
      return true;
    }
    if (path === "/a/dev/moved" || path.endsWith("redirected-1.0.tar.gz")) {
      res.writeHead(302, { location: "http://169.254.169.254/latest/meta-data/" }).end();
      return true;
    }
    if (path === "/a/locked") {
      res.writeHead(403).end("{}");
      return true;
    }
    if (path === "/a/unlisted") {
      res.writeHead(200).end('{"result": {"type": "stage", "projects": "all"}}');
      return true;
    }
    if (path !== "/a/dev/broken") return false;
    res.writeHead(200).end('{"result": ');
    return true;
  };
  const items = await planOf(stage, fake);
  const cannot = new Map(
    items
      .filter(({ action }) => action === "cannot")
      .map(({ kind, source, why }) => [`${kind} ${source}`, why] as const),
  );
  for (const [source, why] of [
    ["group a/UPPER", /"UPPER" cannot be the name/],
    ["group a/odd", /is an index of the type constrained, which is not read/],
    ["group a/locked", /does not let us read \/a\/locked \(403\)/],
    ["group a/unlisted", /does not list its projects/],
    ["project a/dev/../../../etc", /its name is not valid for a Python project/],
    ["project a/dev/a.b", /is a-b here, as A_b is, which comes/],
    ["file a/dev/foreign/foreign-1.0.tar.gz", /is at 169\.254\.169\.254, and not at the source: not asked/],
    ["file a/dev/inherited/inherited-1.0.tar.gz", /is a file of another index/],
    ["file a/dev/sumless/sumless-1.0.tar.gz", /the source says no SHA-256 of it/],
    ["file a/dev/weak/weak-1.0.tar.gz", /the source says no SHA-256 of it/],
    ["file a/dev/climbing/../climbing-1.0.tar.gz", /its name is not valid for a distribution/],
    ["file a/dev/egg/egg-1.0-py2.7.egg", /is neither a wheel nor a source distribution/],
    ["file a/dev/numberless/numberless-1.0.tar.gz", /its version is not one as PEP 440 has them/],
    ["project a/dev/endless", /sends more than \d+ bytes in one answer/],
    ["project a/dev/moved", /redirects to 169\.254\.169\.254: not followed/],
    ["project a/dev/broken", /something other than JSON/],
    ["project a/dev/foreign", /none of its 1 files can come/],
    ["upstream a/dev", /its mirror_url is no URL that an upstream can have/],
    ["upstream root/pypi", /its mirror_url is no URL that an upstream can have/],
  ] as const)
    assert.match(cannot.get(source) ?? "", why, source);
  assert.deepEqual(
    fake.seen.filter((path) => path.includes("..") || path.includes("etc")),
    [],
    "names that are none are never asked for",
  );

  const { code, failed } = await apply(stage, fake);
  assert.equal(code, 9);
  const files = failed.filter(({ kind }) => kind === "file");
  const sums = "the source sends other bytes than its sums say";
  assert.deepEqual(Object.fromEntries(files.map(({ name, why }) => [name.slice("acme/old/a/dev/".length), why])), {
    "lying/lying-1.0.tar.gz": sums,
    "redirected/redirected-1.0.tar.gz": "the source redirects to 169.254.169.254: not followed",
    "torn/torn-1.0.tar.gz": sums,
  });
  const [good] = (await pageOf(stage, "good", "acme/old/a/dev")).files;
  assert.equal(good?.["upload-time"], OLD);
  for (const project of ["future", "ancient"]) {
    const [file] = (await pageOf(stage, project, "acme/old/a/dev")).files;
    assert.ok(Date.parse(file?.["upload-time"] ?? "") > Date.parse("2025-01-01"), project);
  }

  await t.test("a plan into which somebody wrote", async () => {
    const plan = JSON.parse(readFileSync(join(stage.folder, "plan.json"), "utf8")) as { items: Item[] };
    const refuse = async (source: string, change: object, why: RegExp): Promise<void> => {
      const edited = plan.items.map((item) => (item.source === source ? { ...item, ...change } : item));
      writeFileSync(join(stage.folder, "edited.json"), JSON.stringify({ ...plan, items: edited }));
      const [exit, line] = await stage.fails(...command(fake.url), "--apply", "edited.json", ...PULL);
      assert.deepEqual([exit, why.test(line)], [2, true], line);
    };
    const file = "a/dev/good/good-1.0.tar.gz";
    await refuse(file, { source: "a/dev/good/../x.whl" }, /\.source: /);
    await refuse(file, { target: "acme/other/good-1.0.tar.gz" }, /\.target: must be acme\/old\/a\/dev\/good\/good-1/);
    await refuse(file, { sum: "md5-x" }, /\.sum: must be a sum/);
    await refuse(file, { version: "latest" }, /\.version: must be one of PEP 440/);
    await refuse("a/dev/good", { source: "a/dev/gone", target: "acme/old/a/dev/gone" }, /is a file of no project/);
    await refuse(file, { kind: "version" }, /\.source: /);
    await refuse(
      file,
      {
        kind: "package",
        source: "x",
        target: "acme/old/x",
        tags: {},
        sum: undefined,
        version: undefined,
        time: undefined,
      },
      /has no items of the kind package/,
    );
  });
});

test("no upstream is asked for names of the index that are not here", async (t) => {
  const stage = await open(t);
  const fake = await startFakeDevpi(t, {
    "root/pypi": { config: { type: "mirror", mirror_url: "https://pypi.org/simple" } },
    "a/dev": index(
      {
        lost: { "1.0": { files: [sdist({ name: "lost", version: "1.0" }, { link: { hash_spec: "", hashes: {} } })] } },
        flaky: { "1.0": { files: [sdist({ name: "flaky", version: "1.0" })] } },
      },
      { bases: ["root/pypi"] },
    ),
  });
  await planOf(stage, fake);
  const upstream = async (): Promise<Record<string, unknown> | undefined> =>
    (await stage.json<{ upstreams: Record<string, unknown>[] }>("upstreams", "list", "acme/old/a/dev")).upstreams[0];
  fake.answer = (_, res, path) => {
    if (!path.endsWith("flaky-1.0.tar.gz")) return false;
    res.writeHead(403).end("{}");
    return true;
  };
  const first = await apply(stage, fake);
  assert.equal(first.code, 9);
  assert.deepEqual(
    first.failed.filter(({ kind }) => kind === "upstream").map(({ name, why }) => `${name}: ${why}`),
    ["a/dev: waits until its libraries are here: others would come by their names"],
  );
  assert.equal(await upstream(), undefined);
  fake.answer = () => false;
  assert.equal((await apply(stage, fake)).code, 0);
  assert.deepEqual((await upstream())?.["reservedNames"], ["lost"]);
});

test("a wrong password, and flags of images, are refused", async (t) => {
  const stage = await open(t);
  const fake = await startFakeDevpi(t, {});
  const fails = async (...flags: string[]): Promise<string> => (await stage.fails(...command(fake.url), ...flags))[1];
  writeFileSync(join(stage.folder, "wrong"), "wrong");
  assert.match(
    await fails("--plan", "none.json", "--username", READER.user, "--password-file", "wrong"),
    /does not log robot in \(401\)/,
  );
  assert.match(await fails("--plan", "none.json"), /does not let us read \/ \(401\)/);
  for (const flag of ["--finish", "--history", "--policies"])
    assert.match(await fails("--apply", "plan.json", flag), new RegExp(`${flag}:`));
});

test("killed at any point, the same command goes on, and ends where it would have", async (t) => {
  const stage = await open(t);
  const token = (await stage.ok("token")).trim();
  const files = ["1.0", "1.1", "1.2"].map((version) => {
    const yanked = version === "1.1" ? { yanked: true } : {};
    return [version, { files: [wheel({ name: "app", version }, { when: WHEN, link: yanked })] }] as const;
  });
  const fake = await startFakeDevpi(t, {
    "a/dev": index({
      app: Object.fromEntries(files),
      tool: { "1": { files: [sdist({ name: "tool", version: "1" })] } },
    }),
  });
  const stateOf = async (group: string): Promise<unknown> => {
    const pages = [await pageOf(stage, "app", `${group}/a/dev`), await pageOf(stage, "tool", `${group}/a/dev`)];
    return pages.flatMap((page) =>
      page.files.map(({ filename, hashes, yanked, ...file }) => [
        filename,
        hashes.sha256,
        yanked,
        filename.startsWith("app") && file["upload-time"],
      ]),
    );
  };
  const moved = async (group: string): Promise<string[]> => {
    await stage.ok("groups", "create", group);
    await stage.ok(...command(fake.url, group), "--plan", `${group.slice(5)}.json`, ...READ);
    return [...command(fake.url, group), "--apply", `${group.slice(5)}.json`, ...PULL];
  };
  const whole = await moved("acme/whole");
  const start = fake.seen.length;
  await stage.ok(...whole);
  const requests = fake.seen.length - start;
  const expected = await stateOf("acme/whole");
  const points = sized(3, requests);
  for (let point = 1; point <= points; point += 1) {
    const group = `acme/killed${point}`;
    const args = await moved(group);
    const last = fake.seen.length + Math.ceil((point * requests) / points);
    const child = started(stage, args, { url: stage.url, token });
    fake.answer = () => {
      if (fake.seen.length >= last) child.kill("SIGKILL");
      return false;
    };
    assert.deepEqual(await once(child, "exit"), [null, "SIGKILL"], `point ${point}`);
    fake.answer = () => false;
    await stage.ok(...args);
    assert.deepEqual(await stateOf(group), expected, `killed at point ${point}`);
  }
});
