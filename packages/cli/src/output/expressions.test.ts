import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../api/rest.ts";
import { UsageFailure } from "../command/failure.ts";
import { jqSelector, jsonPathSelector, templateSelector } from "./expressions.ts";

const REPO: JsonObject = { uid: "1", name: "app", tags: ["a", "b"], policy: { on: true } };
const OTHER: JsonObject = { uid: "2", name: 'it"s', tags: [] };
const LIST: JsonObject = { repos: [REPO, OTHER], totalCount: "2" };

test("JSONPath is that of RFC 9535, and the forms of kubectl", async () => {
  const select = async (path: string) => (await jsonPathSelector(path))(LIST);
  for (const path of ["$.repos[*].name", "{.repos[*].name}", ".repos[*].name", "repos[*].name", "{$..name}"])
    assert.equal(await select(path), 'app\nit"s\n', path);
  assert.equal(await select("$.repos[?@.policy.on == true].uid"), "1\n");
  assert.equal(await select("$.repos[?match(@.name, 'a.*')].tags"), '["a","b"]\n');
  assert.equal(await select("$.none"), "");
});

test("templates fill in fields and lists, escape nothing and run nothing", async () => {
  const fill = async (template: string) => (await templateSelector(template))(REPO);
  assert.equal(await fill("{{name}}:{{#tags}} {{.}}{{/tags}}"), "app: a b\n");
  assert.equal(await fill("{{name}}\\t{{policy}}\\n"), 'app\t{"on":true}\n');
  assert.equal(await fill("{{constructor}}{{#constructor}}x{{/constructor}}{{tags.concat}}{{name.constructor}}"), "\n");
  assert.equal((await templateSelector("{{name}}"))({ name: "a&b<c>" }), "a&b<c>\n");
});

test("filters are those of jq; texts are printed without quotes", async () => {
  const filter = async (text: string) => (await jqSelector(text))(LIST);
  assert.equal(await filter(".repos[] | .name"), 'app\nit"s\n');
  assert.equal(await filter(".repos | map({name, n: (.tags|length)}) | .[0]"), '{"name":"app","n":2}\n');
  assert.equal(await filter(".repos | length"), "2\n");
  assert.equal(await filter("empty"), "");
  assert.equal(await filter("# a comment\n.totalCount # another"), "2\n");
});

test("an expression that cannot be read is a wrong command line that says where", async () => {
  const wrong: readonly [() => Promise<unknown>, RegExp][] = [
    [() => jsonPathSelector("$.repos["), /^jsonpath: .*bracket/],
    [() => jsonPathSelector("$.repos[?(1).constructor]"), /^jsonpath: /],
    [() => templateSelector("{{#tags}}"), /^template: Unclosed section "tags"/],
    [() => jqSelector(".repos[] |"), /^--jq: syntax error, unexpected end of file/],
    [() => jqSelector("nothing_there"), /^--jq: nothing_there\/0 is not defined/],
  ];
  for (const [make, message] of wrong)
    await assert.rejects(make, (error) => {
      assert.ok(error instanceof UsageFailure);
      assert.match(error.message, message);
      return true;
    });
});

test("a filter that fails on the document says why, in one line", async () => {
  const select = await jqSelector('.repos[0] | error("no \\(.name)")');
  assert.throws(() => select(LIST), { message: "--jq: no app" });
  const indexed = await jqSelector(".repos.name");
  assert.throws(() => indexed(LIST), { message: /^--jq: Cannot index array with string \("name"\)$/ });
});

test("filters see neither files nor this process's environment", async () => {
  process.env["MOORAGE_TEST_SECRET"] = "s";
  assert.equal((await jqSelector('env | has("MOORAGE_TEST_SECRET")'))(LIST), "false\n");
  await assert.rejects(jqSelector('import "/etc/passwd" as $p; .'), UsageFailure);
});
