import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { digestOf, OCI_IMAGE } from "../../server/test/support/installation.ts";
import { openStage, type Stage } from "./tasks-stage.ts";

type Answer = (req: IncomingMessage, res: ServerResponse, path: string) => boolean;

const MANIFEST = JSON.stringify({ schemaVersion: 2, mediaType: OCI_IMAGE, config: {}, layers: [] });

/** A registry with `team/app:v1`, which answers otherwise where the test says so; and what it was asked. */
async function startRegistry(t: TestContext, answer: Answer): Promise<{ url: string; seen: string[] }> {
  const seen: string[] = [];
  const send = (res: ServerResponse, body: object): void => void res.end(JSON.stringify(body));
  const server = createServer((req, res) => {
    const path = req.url ?? "";
    seen.push(`${req.method} ${path}`);
    if (answer(req, res, path)) return;
    if (path.startsWith("/v2/_catalog")) send(res, { repositories: ["team/app"] });
    else if (path.startsWith("/v2/team/app/tags/list")) send(res, { tags: ["v1"] });
    else if (path.startsWith("/v2/team/app/manifests/"))
      res.writeHead(200, { "content-type": OCI_IMAGE, "docker-content-digest": digestOf(MANIFEST) }).end(MANIFEST);
    else res.writeHead(404).end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

interface Item {
  kind: string;
  source: string;
  action: string;
  why: string;
}

/** Makes a plan of the registry, whose answers the test spoils, and answers its items. */
async function planOf(stage: Stage, url: string): Promise<Item[]> {
  const file = join(stage.folder, "plan.json");
  await stage.ok("import-from", "oci", url, "--into", "acme", "--plan", file);
  return (JSON.parse(readFileSync(file, "utf8")) as { items: Item[] }).items;
}

test("what a source answers is not trusted: each trick is refused with words, and ends nothing else", async (t) => {
  const stage = await openStage(t);
  const planFails = async (answer: Answer): Promise<string> => {
    const { url } = await startRegistry(t, answer);
    const [, line] = await stage.fails("import-from", "oci", url, "--into", "acme", "--plan", "none.json");
    return line;
  };
  const whyOf = async (source: string, answer: Answer): Promise<string | undefined> => {
    const { url } = await startRegistry(t, answer);
    const found = (await planOf(stage, url)).find((item) => item.source === source);
    assert.equal(found?.action, "cannot");
    return found?.why;
  };
  const linked = (path: string, link: (at: number) => string): Answer => {
    let at = 0;
    return (_, res, asked) => {
      if (!asked.startsWith(path)) return false;
      const [field, name] = path.includes("_catalog") ? ["repositories", "team/app"] : ["tags", "v1"];
      res.writeHead(200, { link: `<${link((at += 1))}>; rel="next"` }).end(JSON.stringify({ [field]: [name] }));
      return true;
    };
  };

  await t.test("a list whose pages never end", async () => {
    const line = await planFails(linked("/v2/_catalog", (at) => `/v2/_catalog?page=${at}`));
    assert.match(line, /a list of the source leads on, and brings nothing new/);
    const why = await whyOf(
      "team/app",
      linked("/v2/team/app/tags/list", (at) => `/v2/team/app/tags/list?page=${at}`),
    );
    assert.equal(why, "a list of the source leads on, and brings nothing new");
  });

  await t.test("a next page at another place", async () => {
    const line = await planFails(linked("/v2/_catalog", () => "http://169.254.169.254/v2/_catalog"));
    assert.match(line, /the source's next page is somewhere else, at 169\.254\.169\.254: not asked/);
    assert.match(await planFails(linked("/v2/_catalog", () => "/latest/meta-data")), /is somewhere else/);
  });

  await t.test("a redirect to the machine's own network", async () => {
    const toMetadata: Answer = (_, res, path) => {
      if (!path.includes("/manifests/")) return false;
      res.writeHead(307, { location: "http://169.254.169.254/latest/meta-data/" }).end();
      return true;
    };
    assert.equal(await whyOf("team/app:v1", toMetadata), "the source redirects to 169.254.169.254: not followed");
  });

  await t.test("a token endpoint in the machine's own network", async () => {
    const line = await planFails((_, res) => {
      res.writeHead(401, { "www-authenticate": 'Bearer realm="http://169.254.169.254/token",service="x"' }).end();
      return true;
    });
    assert.match(line, /names a token endpoint at 169\.254\.169\.254, a link-local address: not asked/);
  });

  await t.test("a digest that its bytes do not have", async () => {
    const other = digestOf("other");
    const lies: Answer = (_, res, path) => {
      if (!path.includes("/manifests/")) return false;
      res.writeHead(200, { "content-type": OCI_IMAGE, "docker-content-digest": other }).end(MANIFEST);
      return true;
    };
    const why = await whyOf("team/app:v1", lies);
    assert.equal(why, `the source sends ${digestOf(MANIFEST)} for ${other}: its digests do not hold`);
  });

  await t.test("names that are no paths here, and are never asked for", async () => {
    const { url, seen } = await startRegistry(t, (_, res, path) => {
      if (!path.startsWith("/v2/_catalog")) return false;
      res.end(JSON.stringify({ repositories: ["team/app", "../../iam", "Team/App", "a//b", "team", 7] }));
      return true;
    });
    const items = await planOf(stage, url);
    assert.deepEqual(
      items.filter(({ kind, action }) => kind === "repo" && action === "cannot").map(({ source }) => source),
      ["", "../../iam", "Team/App", "a//b"],
    );
    assert.deepEqual(
      seen.filter((path) => /iam|Team|a\/\/b/.test(path)),
      [],
    );
  });

  await t.test("an answer without end", async () => {
    const line = await planFails((_, res, path) => {
      if (!path.startsWith("/v2/_catalog")) return false;
      const chunk = Buffer.alloc(1 << 20, " ");
      const more = (): void => {
        while (!res.destroyed && res.write(chunk));
      };
      res.on("drain", more);
      more();
      return true;
    });
    assert.match(line, /the source sends more than 16777216 bytes in one answer/);
  });
});

test("a plan that somebody edited is read like a stranger's: what is wrong with it is said, and nothing is done", async (t) => {
  const stage = await openStage(t);
  const { url } = await startRegistry(t, () => false);
  const file = join(stage.folder, "plan.json");
  await stage.ok("import-from", "oci", url, "--into", "acme", "--plan", file);
  const text = readFileSync(file, "utf8");
  type Plan = Record<string, unknown> & { items: Record<string, unknown>[] };
  const refused = async (change: (plan: Plan) => void, flags: string[] = [url]): Promise<string> => {
    const plan = JSON.parse(text) as Plan;
    change(plan);
    writeFileSync(file, JSON.stringify(plan));
    const [code, line] = await stage.fails("import-from", "oci", ...flags, "--into", "acme", "--apply", file);
    assert.equal(code, 2);
    return line.replace(`moorage: ${file}: `, "");
  };
  const at = (index: number, fields: object) => (plan: Plan) => void Object.assign(plan.items[index] ?? {}, fields);
  assert.equal(await refused(at(1, { target: "other/team/app" })), "items[1].target: is not below acme");
  assert.match(await refused(at(1, { target: "acme/../other" })), /^items\[1\]\.target: "\.\." cannot be the name/);
  assert.match(
    await refused(at(1, { source: "../../iam/v2/groups" })),
    /^items\[1\]\.source: "\.\." cannot be the name/,
  );
  assert.match(await refused(at(2, { digest: "sha256:1" })), /^items\[2\]\.digest: must be a digest/);
  assert.match(await refused(at(2, { source: "team/other:v1" })), /^items\[2\]: is a tag of no repo of the plan/);
  assert.match(await refused(at(0, { kind: "owner" })), /^items\[0\]\.kind: must be one of/);
  assert.match(await refused(at(0, { owner: "me" })), /^items\[0\]: unknown field "owner"/);
  assert.equal(await refused(at(0, { role: "registry.push" })), "items[0].role: an item of the kind group has none");
  assert.match(await refused(at(0, { kind: "robot", role: "owner" })), /^items\[0\]\.role: must be one of registry\./);
  const moves = [
    { digest: "", time: "2024-01-02T00:00:00Z" },
    { digest: "", time: "2024-01-01T00:00:00Z" },
  ];
  assert.match(await refused(at(2, { moves })), /^items\[2\]\.moves\[1\]\.time: must be after the move before it/);
  assert.match(await refused((plan) => void (plan["plan"] = "other")), /^is not a plan of this command/);
  assert.match(
    await refused((plan) => void (plan["address"] = "https://other.example.com")),
    /^is a plan for oci https:/,
  );
  assert.match(await refused(() => {}, ["http://127.0.0.1:1"]), /^is a plan for oci http:/);
  assert.match(await refused(() => {}, [url, "--history"]), /--history: a registry of the kind oci does not say/);
  await stage.fails("repos", "get", "acme/team/app");
});

test("flags that do not go together, and kinds that are not read, are refused before anybody is asked", async (t) => {
  const stage = await openStage(t);
  const line = async (...args: string[]): Promise<string> => {
    const [code, text] = await stage.fails("import-from", ...args);
    assert.equal(code, 2);
    return text;
  };
  const into = ["--into", "acme"];
  assert.match(await line("oci", "x.example.com", ...into), /name either --plan or --apply/);
  assert.match(await line("oci", "x.example.com", "--plan", "p"), /--into: name the group/);
  assert.match(await line("oci", "x.example.com", ...into, "--plan", "p", "--finish"), /--finish: goes with --apply/);
  assert.match(await line("oci", "x.example.com", ...into, "--plan", "p", "--username", "a"), /go together/);
  assert.match(await line("oci", "https://a:b@x.example.com", ...into, "--plan", "p"), /must not hold a password/);
  assert.match(await line("gitlab", "x.example.com", ...into, "--plan", "p"), /gitlab: is not read by its own API/);
  assert.match(await line("other", "x.example.com", ...into, "--plan", "p"), /is not a kind of registry/);
});
