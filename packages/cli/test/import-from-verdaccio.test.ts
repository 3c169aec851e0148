// The packages of a verdaccio move in. It is a fake, see fake-verdaccio.ts.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { publishDocument } from "../../server/test/support/npm.ts";
import { started } from "./command-kills.ts";
import { sized } from "../../server/test/support/extent.ts";
import { type FakeVerdaccio, READER, startFakeVerdaccio, versionOf } from "./fake-verdaccio.ts";
import { openStage, type Stage } from "./tasks-stage.ts";

const OLD = "2021-03-04T05:06:07.089Z";
const NEWER = "2022-03-04T05:06:07.000Z";

interface Item {
  kind: string;
  source: string;
  action: string;
  why: string;
  tags?: Record<string, string>;
}
interface Report {
  counts: Record<string, unknown>[];
  failed: { kind: string; name: string; why: string }[];
  kept: { kind: string; name: string; why: string }[];
}
interface Packument {
  "dist-tags": Record<string, string>;
  versions: Record<string, { deprecated?: string; dist: { integrity: string } }>;
  time: Record<string, string>;
  readme: string;
}

const PULL = ["--pull-username", READER.user, "--pull-password-file", "password"];
const READ = ["--username", READER.user, "--password-file", "password"];

async function open(t: TestContext): Promise<Stage> {
  const stage = await openStage(t);
  writeFileSync(join(stage.folder, "password"), READER.password);
  await stage.ok("groups", "create", "acme/old");
  return stage;
}
const command = (url: string, into = "acme/old"): string[] => ["import-from", "verdaccio", url, "--into", into];
const itemsOf = (stage: Stage): Item[] =>
  (JSON.parse(readFileSync(join(stage.folder, "plan.json"), "utf8")) as { items: Item[] }).items;

async function planOf(stage: Stage, { url }: FakeVerdaccio, ...flags: string[]): Promise<Item[]> {
  await stage.ok(...command(url), "--plan", "plan.json", ...READ, ...flags);
  return itemsOf(stage);
}

/** Applies the plan; its report, and the code that it ended with. */
async function apply(stage: Stage, { url }: FakeVerdaccio): Promise<Report & { code: number; counts: object[] }> {
  const { code, stdout, stderr } = await stage.run([...command(url), "--apply", "plan.json", ...PULL, "-o", "json"]);
  assert.ok(code === 0 || code === 9, stderr);
  return { ...(JSON.parse(stdout) as Report), code };
}

async function registry(stage: Stage, path: string, init: RequestInit = {}): Promise<Response> {
  const token = (await stage.ok("token")).trim();
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  return fetch(`${stage.url}/npm/${path}`, { ...init, headers });
}
const packument = async (stage: Stage, name: string, group = "acme/old"): Promise<Packument> =>
  (await (await registry(stage, `${group}/${name.replace("/", "%2f")}`)).json()) as Packument;

test("packages come with the same bytes, times, tags and deprecations; the same again changes nothing", async (t) => {
  const stage = await open(t);
  const fake = await startFakeVerdaccio(t, {
    hello: {
      versions: {
        "1.0.0": versionOf("hello", "1.0.0", { time: OLD, deprecated: "use 1.1.0" }),
        "1.1.0": versionOf("hello", "1.1.0", { time: NEWER, bytes: 1_000_001 }),
        "2.0.0-rc.1": versionOf("hello", "2.0.0-rc.1"),
      },
      tags: { latest: "1.0.0", next: "2.0.0-rc.1", stable: "1.0.0" },
      readme: "# Hello",
    },
    "@acme/ui": { versions: { "0.1.0": versionOf("@acme/ui", "0.1.0", { time: OLD }) }, tags: { latest: "0.1.0" } },
    Upper: { versions: { "1.0.0": versionOf("Upper", "1.0.0") }, tags: { latest: "1.0.0" } },
    "is-odd": {
      versions: { "3.0.1": versionOf("is-odd", "3.0.1") },
      tags: { latest: "3.0.1" },
      uplinks: ["npmjs"],
    },
  });
  const items = await planOf(stage, fake);
  assert.deepEqual(
    items.map(({ kind, source, action }) => `${kind} ${source} ${action}`),
    [
      "package @acme/ui create",
      "version @acme/ui@0.1.0 create",
      "package Upper cannot",
      "package hello create",
      "version hello@1.0.0 create",
      "version hello@1.1.0 create",
      "version hello@2.0.0-rc.1 create",
      "package is-odd cannot",
      "upstream npmjs cannot",
    ],
  );
  const whyOf = (source: string): string => items.find((item) => item.source === source)?.why ?? "";
  assert.match(whyOf("is-odd"), /does not say which of its versions come from the uplink npmjs: none is copied/);
  assert.match(whyOf("npmjs"), /moorage upstreams create acme\/old --ecosystem javascript/);
  assert.match(whyOf("hello@2.0.0-rc.1"), /does not say when it was published/);
  assert.equal((await registry(stage, "acme/old/hello")).status, 404, "a plan changes nothing");

  const first = await apply(stage, fake);
  assert.deepEqual([first.code, first.failed, first.kept], [0, [], []]);
  const { time, versions, readme, "dist-tags": tags } = await packument(stage, "hello");
  assert.deepEqual(tags, { latest: "1.0.0", next: "2.0.0-rc.1", stable: "1.0.0" });
  assert.deepEqual([time["1.0.0"], time["1.1.0"], time["created"]], [OLD, NEWER, OLD]);
  assert.deepEqual([versions["1.0.0"]?.deprecated, versions["1.1.0"]?.deprecated], ["use 1.1.0", undefined]);
  assert.equal(readme, "# Hello");
  for (const [version, held] of Object.entries(fake.packages["hello"]?.versions ?? {})) {
    const sent = await registry(stage, `acme/old/hello/-/hello-${version}.tgz`);
    assert.deepEqual(Buffer.from(await sent.arrayBuffer()), held.tarball);
  }
  assert.deepEqual((await packument(stage, "@acme/ui")).time["0.1.0"], OLD);
  assert.equal((await registry(stage, "acme/old/is-odd")).status, 404);

  const before = fake.seen.length;
  const again = await apply(stage, fake);
  assert.deepEqual(
    again.counts.filter((count) => Number((count as Record<string, unknown>)["done"]) > 0),
    [],
  );
  assert.deepEqual(
    fake.seen.slice(before).filter((path) => path.endsWith(".tgz")),
    [],
    "nothing is fetched twice",
  );
  const planned = await planOf(stage, fake, "--names", "names").catch(() => undefined);
  assert.equal(planned, undefined, "a file that is not there");
  writeFileSync(join(stage.folder, "names"), "hello\n# all others later\n");
  assert.deepEqual(
    (await planOf(stage, fake, "--names", "names")).map(({ kind, action }) => `${kind} ${action}`),
    ["package same", "version same", "version same", "version same"],
  );
});

test("what was changed here stays so: versions, tags, and what was removed", async (t) => {
  const stage = await open(t);
  const fake = await startFakeVerdaccio(t, {
    app: {
      versions: { "1.0.0": versionOf("app", "1.0.0"), "1.1.0": versionOf("app", "1.1.0") },
      tags: { latest: "1.1.0", beta: "1.1.0" },
    },
    other: { versions: { "1.0.0": versionOf("other", "1.0.0") }, tags: { latest: "1.0.0" } },
  });
  await planOf(stage, fake);
  const publish = async (name: string, version: string, tags: object): Promise<void> => {
    const document = JSON.stringify(publishDocument(name, version, { tags }));
    const answer = await registry(stage, `acme/old/${name}`, { method: "PUT", body: document });
    assert.equal(answer.status, 201);
  };
  // The same number has other bytes here.
  await publish("other", "1.0.0", { latest: "1.0.0" });
  const first = await apply(stage, fake);
  assert.equal(first.code, 9);
  assert.deepEqual(
    first.failed.map(({ name, why }) => `${name}: ${why}`),
    ["acme/old/other@1.0.0: is here with other bytes, or with a sum that cannot be compared"],
  );
  const replanned = await planOf(stage, fake);
  assert.deepEqual(
    replanned.filter(({ action }) => action === "cannot").map(({ source, why }) => `${source}: ${why}`),
    ["other@1.0.0: is here with other bytes"],
  );

  await publish("app", "1.2.0", { latest: "1.2.0" });
  await registry(stage, "acme/old/-/package/app/dist-tags/beta", { method: "PUT", body: JSON.stringify("1.0.0") });
  const held = fake.packages["app"];
  assert.ok(held);
  held.versions["1.1.1"] = versionOf("app", "1.1.1", { time: NEWER });
  held.tags = { latest: "1.1.1", beta: "1.1.0", next: "1.1.1" };
  await planOf(stage, fake);
  const { code, kept } = await apply(stage, fake);
  assert.equal(code, 0);
  assert.deepEqual(
    kept.map(({ name, why }) => `${name}: ${why}`),
    [
      "acme/old/app: its tag latest points to 1.2.0 here, and to 1.1.1 there; its tag beta points to 1.0.0 here, and to 1.1.0 there",
    ],
  );
  assert.deepEqual((await packument(stage, "app"))["dist-tags"], { latest: "1.2.0", beta: "1.0.0", next: "1.1.1" });

  await stage.ok("libraries", "delete-version", "acme/old:app@1.1.1", "--yes");
  const removed = await apply(stage, fake);
  assert.equal(removed.code, 0);
  assert.deepEqual(
    removed.kept.filter(({ kind }) => kind === "version").map(({ name, why }) => `${name}: ${why}`),
    ["acme/old/app@1.1.1: was removed here"],
  );
});

test("what the source answers is not trusted: each trick is refused with words, and ends nothing else", async (t) => {
  const stage = await open(t);
  const good = { versions: { "1.0.0": versionOf("good", "1.0.0", { time: OLD }) }, tags: { latest: "1.0.0" } };
  const one = (name: string) => ({ versions: { "1.0.0": versionOf(name, "1.0.0") }, tags: { latest: "1.0.0" } });
  const dist = (name: string, changes: object) => {
    const held = versionOf(name, "1.0.0");
    const manifest = { ...held.manifest, dist: { ...(held.manifest["dist"] as object), ...changes } };
    return { versions: { "1.0.0": { ...held, manifest } }, tags: { latest: "1.0.0" } };
  };
  const fake = await startFakeVerdaccio(t, {
    good,
    "../../../etc": one("../../../etc"),
    "@a/../b": one("@a/../b"),
    foreign: dist("foreign", { tarball: "http://169.254.169.254/foreign/-/foreign-1.0.0.tgz" }),
    sumless: dist("sumless", { integrity: undefined, shasum: undefined }),
    endless: one("endless"),
    moved: one("moved"),
    broken: one("broken"),
    lying: dist("lying", { integrity: `sha512-${Buffer.alloc(64, 1).toString("base64")}`, shasum: undefined }),
    redirected: one("redirected"),
    odd: { versions: { "1.0": versionOf("odd", "1.0") }, tags: { latest: "1.0" } },
    future: {
      versions: { "1.0.0": versionOf("future", "1.0.0", { time: "2999-01-01T00:00:00Z" }) },
      tags: { latest: "1.0.0" },
    },
  });
  fake.answer = (_, res, path) => {
    if (path === "/endless") {
      res.writeHead(200, { "content-type": "application/json" });
      const more = (): void => {
        while (res.write(" ".repeat(1 << 20)));
        if (!res.destroyed) res.once("drain", more);
      };
      more();
      return true;
    }
    if (path === "/moved" || path === "/redirected/-/redirected-1.0.0.tgz") {
      res.writeHead(302, { location: "http://169.254.169.254/latest/meta-data/" }).end();
      return true;
    }
    if (path !== "/broken") return false;
    res.writeHead(200).end('{"name": "broken", "versions": ');
    return true;
  };
  const items = await planOf(stage, fake);
  const cannot = Object.fromEntries(
    items.filter(({ action }) => action === "cannot").map(({ source, why }) => [source, why]),
  );
  assert.deepEqual(Object.keys(cannot).toSorted(), [
    "../../../etc",
    "@a/../b",
    "broken",
    "endless",
    "foreign@1.0.0",
    "moved",
    "odd@1.0",
    "sumless@1.0.0",
  ]);
  assert.match(cannot["../../../etc"] ?? "", /its name is not valid for an npm package here/);
  assert.match(cannot["endless"] ?? "", /sends more than \d+ bytes in one answer/);
  assert.match(cannot["foreign@1.0.0"] ?? "", /its tarball is at 169\.254\.169\.254, and not at the source: not asked/);
  assert.match(cannot["moved"] ?? "", /redirects to 169\.254\.169\.254: not followed/);
  assert.match(cannot["broken"] ?? "", /something other than JSON/);
  assert.deepEqual(
    fake.seen.filter((path) => path.includes("..") || path.includes("etc")),
    [],
    "names that are none are never asked for",
  );

  const { code, failed } = await apply(stage, fake);
  assert.equal(code, 9);
  assert.deepEqual(
    Object.fromEntries(failed.filter(({ kind }) => kind === "version").map(({ name, why }) => [name, why])),
    {
      "acme/old/lying@1.0.0": "the source sends other bytes than its sums say",
      "acme/old/redirected@1.0.0": "the source redirects to 169.254.169.254: not followed",
    },
  );
  assert.equal((await packument(stage, "good")).time["1.0.0"], OLD);
  assert.ok(Date.parse((await packument(stage, "future")).time["1.0.0"] ?? "") <= Date.now() + 60_000);

  await t.test("a plan into which somebody wrote", async () => {
    const plan = JSON.parse(readFileSync(join(stage.folder, "plan.json"), "utf8")) as { items: object[] };
    const refuse = async (change: object, why: RegExp): Promise<void> => {
      const items = plan.items.map((item) => ((item as Item).source === "good@1.0.0" ? { ...item, ...change } : item));
      writeFileSync(join(stage.folder, "edited.json"), JSON.stringify({ ...plan, items }));
      const [exit, line] = await stage.fails(...command(fake.url), "--apply", "edited.json", ...PULL);
      assert.deepEqual([exit, why.test(line)], [2, true], line);
    };
    await refuse({ source: "../x@1.0.0" }, /items\[\d+\]\.source: its name is not valid/);
    await refuse({ target: "acme/other/good@1.0.0" }, /\.target: must be acme\/old\/good@1\.0\.0/);
    await refuse({ sum: "md5-x" }, /\.sum: must be a sum/);
    await refuse({ source: "gone@1.0.0", target: "acme/old/gone@1.0.0" }, /is a version of no package of the plan/);
    await refuse(
      { kind: "group", source: "a", target: "acme/old/a", sum: undefined, time: undefined },
      /no items of the kind group|has none/,
    );
  });
});

test("a verdaccio without its web interface, a wrong password, and flags of images are refused", async (t) => {
  const stage = await open(t);
  const fake = await startFakeVerdaccio(t, {}, (_, res, path) => {
    if (!path.startsWith("/-/verdaccio/data")) return false;
    res.writeHead(404).end("{}");
    return true;
  });
  const fails = async (...flags: string[]): Promise<string> => (await stage.fails(...command(fake.url), ...flags))[1];
  assert.match(await fails("--plan", "none.json", ...READ), /its web interface is off/);
  writeFileSync(join(stage.folder, "wrong"), "wrong");
  assert.match(
    await fails("--plan", "none.json", "--username", READER.user, "--password-file", "wrong"),
    /does not log robot in \(401\)/,
  );
  for (const flag of ["--finish", "--history", "--policies"])
    assert.match(await fails("--apply", "plan.json", flag), new RegExp(`^${flag}|error: ${flag}|${flag}:`));
});

test("killed at any point, the same command goes on, and ends where it would have", async (t) => {
  const stage = await open(t);
  const token = (await stage.ok("token")).trim();
  const fake = await startFakeVerdaccio(t, {
    app: {
      versions: Object.fromEntries(
        ["1.0.0", "1.1.0", "1.2.0"].map((version) => [version, versionOf("app", version, { time: OLD })]),
      ),
      tags: { latest: "1.1.0", beta: "1.2.0" },
    },
    "@acme/ui": { versions: { "0.1.0": versionOf("@acme/ui", "0.1.0", { time: OLD }) }, tags: { latest: "0.1.0" } },
  });
  const stateOf = async (group: string): Promise<unknown> => {
    const found = [await packument(stage, "app", group), await packument(stage, "@acme/ui", group)];
    return found.map(({ "dist-tags": tags, time: times, versions }) => {
      const { modified: _, ...time } = times;
      return [tags, time, Object.values(versions).map(({ dist }) => dist.integrity)];
    });
  };
  const moved = async (group: string): Promise<string[]> => {
    await stage.ok("groups", "create", group);
    await stage.ok(...command(fake.url, group), "--plan", `${group.slice(5)}.json`, ...READ);
    return [...command(fake.url, group), "--apply", `${group.slice(5)}.json`, ...PULL];
  };
  const whole = await moved("acme/whole");
  await stage.ok(...whole);
  const expected = await stateOf("acme/whole");
  // The source is asked six times: for two documents and four tarballs, and the command is killed before an answer.
  const points = sized(3, 6);
  for (let point = 1; point <= points; point += 1) {
    const group = `acme/killed${point}`;
    const args = await moved(group);
    const last = fake.seen.length + Math.ceil((point * 6) / points);
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

  // What a command sent before it was killed may be published after the next one has looked.
  const late = await moved("acme/late");
  let published = 0;
  fake.answer = (_, res, path) => {
    const [, name = "", version = ""] = /^\/(.+)\/-\/.*-(\d.*)\.tgz$/.exec(path) ?? [];
    const held = fake.packages[name];
    const found = held?.versions[version];
    if (held === undefined || found === undefined) return false;
    const tags = Object.fromEntries(Object.entries(held.tags).filter(([, target]) => target === version));
    const document = publishDocument(name, version, { tags, manifest: found.manifest, tarball: found.tarball });
    const headers = { authorization: `Bearer ${token}`, "moorage-publish-time": OLD };
    const url = `${stage.url}/npm/acme/late/${name.replace("/", "%2f")}`;
    void fetch(url, { method: "PUT", headers, body: JSON.stringify(document) }).then(({ status }) => {
      if (status === 201) published += 1;
      res.writeHead(200).end(found.tarball);
    });
    return true;
  };
  assert.deepEqual(await once(started(stage, late, { url: stage.url, token }), "exit"), [0, null]);
  assert.equal(published, 4);
  assert.deepEqual(await stateOf("acme/late"), expected);
});
