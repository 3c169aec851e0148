// The formats of `-o` as programs read them.
import assert from "node:assert/strict";
import { writeFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parse } from "yaml";
import { BUILD, timeless } from "./tasks-stage.ts";
import { openQuick } from "./quick.ts";

const HOSTILE = '=1+1, "quoted"\u001b[2J\u009b31m\u202e';

test("a list in every format", { timeout: 300_000 }, async (t) => {
  const { as, done, api, push, json, folder, env, run } = await openQuick(t);
  const { groups } = await json<{ groups: { uid: string; name: string }[] }>("groups", "list");
  const acme = groups.find(({ name }) => name === "acme")?.uid ?? "";
  const team = await api("POST", `/iam/v2/groups/${acme}`, { name: "team" });
  const app = await api("POST", `/registry/v2/repos/${team.uid}`, { name: "app", description: HOSTILE });
  const other = await api("POST", `/registry/v2/repos/${team.uid}`, { name: "b", description: "日本" });
  await push("acme/team/app:1.0", 1);

  await t.test("table: aligned, whole, without colors and controls", async () => {
    assert.equal(
      timeless(await done("tags", "list")),
      `NAME               DIGEST                                                                   UPDATED                   DEPRECATED
acme/team/app:1.0  ${BUILD[1]}  TIME
`,
    );
    assert.equal(
      timeless(await done("repos", "list", "acme/team")),
      `NAME           DESCRIPTION              UPDATED
acme/team/app  =1+1, "quoted"?[2J?31m?  TIME
acme/team/b    日本                     TIME
`,
    );
    const bare = await done("repos", "list", "acme/team", "--no-headers");
    assert.deepEqual(
      bare
        .trimEnd()
        .split("\n")
        .map((line) => line.split(" ")[0]),
      ["acme/team/app", "acme/team/b"],
    );
  });

  await t.test("json and yaml: the API's list, whatever is in it", async () => {
    const printed = await done("repos", "list", "acme/team", "-o", "json");
    const listed = await api<{ repos: object[] }>("GET", `/registry/v2/repos?uidp.descendants_of=${team.uid}`);
    assert.deepEqual(JSON.parse(printed), { repos: listed.repos, totalCount: "2" });
    assert.ok(printed.includes("\\u001b[2J\\u009b31m\\u202e"));
    const yaml = await done("repos", "list", "acme/team", "-o", "yaml");
    assert.deepEqual(parse(yaml), JSON.parse(printed));
    assert.ok(!yaml.includes("\u001b") && !yaml.includes("\u009b"));
  });

  await t.test("name and id: what commands find again", async () => {
    assert.equal(await done("repos", "list", "acme/team", "-o", "name"), "acme/team/app\nacme/team/b\n");
    assert.equal(await done("repos", "list", "acme/team", "-o", "id"), `${app.uid}\n${other.uid}\n`);
    const name = (await done("tags", "list", "-o", "name")).trim();
    assert.equal(name, "acme/team/app:1.0");
    assert.equal(await done("tags", "get", name, "-o", "name"), `${name}\n`);
  });

  await t.test("csv: RFC 4180, with values as they are", async () => {
    const csv = await done("repos", "list", "acme/team", "-o", "csv");
    const [headers, first] = csv.split("\r\n");
    assert.equal(headers, "name,description,updated,tier,bundles,mirrors,aliases,created,uid");
    assert.ok(first?.startsWith(`acme/team/app,"${HOSTILE.replaceAll('"', '""')}",20`), csv);
  });

  await t.test("jsonpath and --jq: of the whole list; template: of each item", async () => {
    const list = ["repos", "list", "acme/team"];
    assert.equal(await done(...list, "-o", "jsonpath={.repos[*].name}"), "app\nb\n");
    assert.equal(await done(...list, "--jq", ".repos | length, .[0].name"), "2\napp\n");
    assert.equal(await done(...list, "-o", "template={{name}} {{uid}}"), `app ${app.uid}\nb ${other.uid}\n`);
    assert.equal(await done("repos", "get", "acme/team/b", "-o", "jsonpath={.description}"), "日本\n");
  });

  await t.test("an item as lines", async () => {
    assert.equal(
      timeless(await done("repos", "get", "acme/team/b")),
      `uid:         ${other.uid} (acme/team/b)\nname:        b\ndescription: 日本\ncreateTime:  TIME\nupdateTime:  TIME\n`,
    );
  });

  await t.test("an empty list says so on standard error", async () => {
    assert.deepEqual(await as("tags", "list", "acme/team/b"), { code: 0, stdout: "", stderr: "no tags\n" });
    assert.deepEqual(await as("bindings", "list", "acme/team"), { code: 0, stdout: "", stderr: "no role bindings\n" });
    assert.equal(await done("tags", "list", "acme/team/b", "-o", "json"), '{\n  "tags": [],\n  "totalCount": "0"\n}\n');
    assert.equal(await done("tags", "list", "acme/team/b", "-o", "name"), "");
  });

  await t.test("the format of the flag, the variable, the context", async () => {
    const config = join(folder, "context");
    mkdirSync(join(config, "moorage"), { recursive: true });
    const context = { current: "c", contexts: { c: { output: "id" } } };
    writeFileSync(join(config, "moorage", "config.json"), JSON.stringify(context));
    const list = ["repos", "list", "acme/team"];
    const home = { ...env, XDG_CONFIG_HOME: config };
    assert.equal((await run(list, home)).stdout, `${app.uid}\n${other.uid}\n`);
    assert.equal((await run(list, { ...home, MOORAGE_OUTPUT: "name" })).stdout, "acme/team/app\nacme/team/b\n");
    assert.equal(
      (await run([...list, "-o", "jsonpath=$..name"], { ...home, MOORAGE_OUTPUT: "name" })).stdout,
      "app\nb\n",
    );
  });

  await t.test("a wrong format or expression is a wrong command line, whatever the server says", async () => {
    const nowhere = { MOORAGE_URL: "http://127.0.0.1:9", MOORAGE_TOKEN: "t" };
    const wrong: readonly [string[], Record<string, string>, RegExp][] = [
      [["-o", "jsno"], {}, /There is json; all are table, wide, json, yaml, name, id, csv, jsonpath=…, template=…/],
      [["-o", "jsonpath"], {}, /jsonpath needs an expression, such as jsonpath='\$\.\.name'/],
      [[], { MOORAGE_OUTPUT: "xml" }, /^moorage: MOORAGE_OUTPUT: xml is no format\. There are table, /],
      [["--jq", ".repos["], {}, /^moorage: --jq: syntax error/],
      [["-o", "jsonpath=$["], {}, /^moorage: jsonpath: /],
      [["--jq", ".", "-o", "csv"], {}, /--jq filters JSON: leave out -o csv/],
    ];
    for (const [args, extra, line] of wrong) {
      const { code, stdout, stderr } = await run(["repos", "list", ...args], { ...nowhere, ...extra });
      assert.deepEqual([code, stdout], [2, ""], `${args.join(" ")}: ${stderr}`);
      assert.match(stderr, line);
      assert.equal(stderr.trimEnd().split("\n").length, 1, stderr);
    }
  });
});
