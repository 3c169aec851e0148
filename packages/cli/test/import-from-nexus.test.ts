// The Python projects of a Nexus move in. It is a fake, see fake-nexus.ts.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { sdistOf, wheelOf } from "../../server/test/support/pypi.ts";
import { type FakeNexus, type HeldAsset, READER, startFakeNexus } from "./fake-nexus.ts";
import { openStage, type Stage } from "./tasks-stage.ts";

interface Item {
  kind: string;
  source: string;
  action: string;
  why: string;
}
interface Report {
  code: number;
  counts: Record<string, number | string>[];
  failed: { kind: string; name: string; why: string }[];
}

const sdist = (name: string, version: string, asset: Record<string, unknown> = {}): HeldAsset => ({
  name,
  version,
  ...sdistOf({ name, version }),
  asset,
});

async function open(t: TestContext): Promise<Stage> {
  const stage = await openStage(t);
  writeFileSync(join(stage.folder, "password"), READER.password);
  await stage.ok("groups", "create", "acme/old");
  return stage;
}
const command = (url: string): string[] => ["import-from", "nexus", url, "--into", "acme/old"];

async function planOf(stage: Stage, { url }: FakeNexus, ...flags: string[]): Promise<Item[]> {
  const read = ["--username", READER.user, "--password-file", "password"];
  await stage.ok(...command(url), "--plan", "plan.json", ...read, ...flags);
  return (JSON.parse(readFileSync(join(stage.folder, "plan.json"), "utf8")) as { items: Item[] }).items;
}

async function apply(stage: Stage, { url }: FakeNexus): Promise<Report> {
  const pull = ["--pull-username", READER.user, "--pull-password-file", "password", "-o", "json"];
  const { code, stdout, stderr } = await stage.run([...command(url), "--apply", "plan.json", ...pull]);
  assert.ok(code === 0 || code === 9, stderr);
  return { ...(JSON.parse(stdout) as Omit<Report, "code">), code };
}

async function registry(stage: Stage, path: string): Promise<Response> {
  const authorization = `Bearer ${(await stage.ok("token")).trim()}`;
  const accept = "application/vnd.pypi.simple.v1+json";
  return fetch(`${stage.url}/pypi/acme/old/${path}`, { headers: { authorization, accept } });
}

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
    "npm-hosted": { format: "npm", type: "hosted" },
    releases: { format: "maven2", type: "hosted" },
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
      "group npm-proxy create",
      "group pypi-hosted create",
      "group pypi-proxy create",
      "group everything cannot",
      "group images cannot",
      "group npm-hosted cannot",
      "group raw cannot",
      "group releases cannot",
      "upstream npm-proxy cannot",
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
    ["group npm-hosted", /holds packages of npm, which are not read from a Nexus/],
    ["group raw", /has the format raw/],
    ["upstream npm-proxy", /--ecosystem javascript --upstream-url https:\/\/registry\.npmjs\.org$/],
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

  const before = fake.seen.length;
  const again = await apply(stage, fake);
  assert.deepEqual(
    again.counts.filter(({ done }) => Number(done) > 0),
    [],
  );
  assert.equal(fake.seen.length, before, "nothing is asked for when all is here");
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
