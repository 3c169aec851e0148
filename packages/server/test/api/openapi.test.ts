import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { Ecosystem } from "@moorage/api";
import { ADVISORIES, newAdvisory } from "../support/advisories.ts";
import { addArtifact } from "../support/artifacts.ts";
import { type Answer, type Platform, startPlatform } from "../support/platform.ts";
import { checkAnswer, REST_SERVICES } from "../support/openapi.ts";

const LIBRARIES = "/libraries/v2/artifacts";

let platform: Platform;
before(async () => {
  platform = await startPlatform();
});
after(() => platform.close());

test("the OpenAPI document needs no token, names this server, and is answered with 304 when the client has it", async () => {
  const answer = await platform.call("GET", "/openapi.json");
  assert.equal(answer.status, 200);
  assert.equal(answer.headers["content-type"], "application/json");
  const { openapi, servers, paths } = answer.body as unknown as {
    openapi: string;
    servers: { url: string }[];
    paths: Record<string, object>;
  };
  assert.equal(openapi, "3.1.1");
  assert.deepEqual(servers, [{ url: platform.url }]);
  const operations = Object.values(paths).flatMap((path) => Object.keys(path));
  assert.ok(operations.length >= REST_SERVICES.flatMap((service) => service.methods).length);
  const again = await platform.call("GET", "/openapi.json", {
    headers: { "if-none-match": String(answer.headers["etag"]) },
  });
  assert.deepEqual([again.status, again.text], [304, ""]);
  const other = await platform.call("POST", "/openapi.json", { body: {} });
  assert.deepEqual([other.status, other.body.code, other.headers["allow"]], [405, 12, "GET, HEAD"]);
});

test("the check finds an answer that differs from the OpenAPI document", async () => {
  const { status, text } = await platform.call("GET", "/registry/v2/repos", { token: await platform.token() });
  checkAnswer("GET", "/registry/v2/repos", { status, text });
  const changed = (from: string, to: string) => () => {
    assert.ok(text.includes(from), from);
    checkAnswer("GET", "/registry/v2/repos", { status, text: text.replace(from, to) });
  };
  assert.throws(changed('"skipped":0', '"skipped":"0"'), /skipped must be integer/);
  assert.throws(changed('"totalCount"', '"total"'), /must NOT have additional properties/);
  assert.throws(changed('"nextPageToken":"",', ""), /must have required property 'nextPageToken'/);
  assert.throws(
    () => checkAnswer("GET", "/registry/v2/repos", { status: 403, text }),
    /must have required property 'code'/,
  );
});

test("order_by names the fields that the server sorts by, and no others", async () => {
  const token = await platform.token();
  const { paths } = (await platform.call("GET", "/openapi.json")).body as unknown as {
    paths: Record<
      string,
      { get?: { parameters: { name: string; description?: string; schema: { default?: string } }[] } }
    >;
  };
  const advisory = await newAdvisory(platform, platform.organization);
  const artifact = await addArtifact(platform, platform.organization, {
    name: "app",
    ecosystem: Ecosystem.JAVA,
    versions: 1,
  });
  let lists = 0;
  for (const [path, { get }] of Object.entries(paths)) {
    const order = get?.parameters.find(({ name }) => name === "order_by");
    // Lists of v1 have an enum, or the order of a list of v2.
    if (order === undefined || path.includes("/v1/")) continue;
    lists += 1;
    const [, names = ""] = /There are ([^,]+(?:, [a-zA-Z]+)*), each/.exec(order.description ?? "") ?? [];
    const isOfLibraries = path.startsWith(LIBRARIES);
    const library = encodeURIComponent(artifact.uid);
    const parent = path.startsWith(ADVISORIES) ? advisory.uid : isOfLibraries ? library : platform.organization;
    const required = path === LIBRARIES ? "ecosystems=ECOSYSTEM_JAVA&" : "";
    const wrong = `${path.replace(/\{[^}]+\}/, parent)}?${required}order_by=`;
    const rejected = await platform.call("GET", `${wrong}nonsense`, { token });
    assert.ok(rejected.body.message.includes(`there are ${names}`), `${path}: ${names}: ${rejected.text}`);
    assert.ok(names.split(", ").includes(order.schema.default?.split(" ")[0] ?? ""), path);
  }
  assert.ok(lists > 10, String(lists));
});

test("tokens and the history of tags are in the document, as the server answers them", async () => {
  const document = (await platform.call("GET", "/openapi.json")).body;
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);
  ajv.addSchema(document, "api");
  const check = (path: string, verb: string, { status, text, headers }: Answer, expected = 200): void => {
    assert.equal(status, expected, `${verb} ${path}: ${text}`);
    const operations = document["paths"] as Record<string, Record<string, { responses: Record<string, object> }>>;
    const response = JSON.stringify(operations[path]?.[verb]?.responses[status] ?? assert.fail(`${path} ${status}`));
    const [, shared] = /"\$ref":"#\/components\/responses\/(\w+)"/.exec(response) ?? [];
    const { responses } = document["components"] as { responses: Record<string, object> };
    const { content } = (shared === undefined ? JSON.parse(response) : responses[shared]) as {
      content: Record<string, { schema: object }>;
    };
    const type = String(headers["content-type"]).split(";")[0] ?? "";
    const schema = JSON.stringify(content[type]?.schema ?? assert.fail(`${path} ${type}`));
    const absolute = JSON.parse(schema.replaceAll('"#/components/', '"api#/components/')) as object;
    const valid = ajv.validate(absolute, JSON.parse(text));
    assert.ok(valid, `${verb} ${path}: ${ajv.errorsText()} ${text}`);
  };
  const { name, uid } = await platform.repo(platform.organization, { name: "documented" });
  await platform.tag(uid, { name: "1.0" });
  const image = `${platform.bootstrap.organization.name}/${name}`;
  const basic = Buffer.from(`me:${await platform.token()}`).toString("base64");
  const got = await platform.call("GET", `/token?scope=repository:${image}:pull`, {
    headers: { authorization: `Basic ${basic}` },
  });
  check("/token", "get", got);
  const many = Array.from({ length: 101 }, (_, at) => `scope=repository:acme/app-${at}:pull`).join("&");
  check("/token", "get", await platform.call("GET", `/token?${many}`), 400);
  const form = new URLSearchParams({ grant_type: "password", username: "me", password: await platform.token() });
  const formed = await platform.call("POST", "/token", {
    raw: form.toString(),
    headers: { "content-type": "application/x-www-form-urlencoded" },
  });
  check("/token", "post", formed);
  const token = String(got.body["token"]);
  for (const [path, parameter] of [
    ["/v2/{name}/_service/history/{tag}", "start=never"],
    ["/v2/{name}/_oci/tag-history/{tag}", "since=never"],
  ] as const) {
    const real = path.replace("{name}", image).replace("{tag}", "1.0");
    check(path, "get", await platform.call("GET", real, { token }));
    check(path, "get", await platform.call("GET", real), 401);
    check(path, "get", await platform.call("GET", `${real}?${parameter}`, { token }), 400);
  }
  const wrong = await platform.call("POST", "/sts/token", {
    raw: "grant_type=other",
    headers: { "content-type": "application/x-www-form-urlencoded" },
  });
  check("/sts/token", "post", wrong, 400);
  for (const path of ["/sts/exchange", "/sts/exchange_refresh_token"]) {
    check(path, "post", await platform.call("POST", path, { body: { aud: platform.url } }), 401);
    check(path, "get", await platform.call("GET", `${path}?color=red`, { token }), 400);
  }
});

test("the HTML page of the document loads nothing from other servers", async () => {
  const page = await platform.call("GET", "/docs");
  assert.equal(page.status, 200);
  assert.equal(page.headers["content-type"], "text/html; charset=utf-8");
  assert.match(String(page.headers["content-security-policy"]), /default-src 'none'; script-src 'self';/);
  const wanted = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)]
    .map(([, path = ""]) => path)
    .filter((path) => !path.startsWith("data:"));
  assert.deepEqual(wanted, ["/docs/swagger-ui.css", "/docs/swagger-ui-bundle.js", "/docs/page.js"]);
  for (const path of wanted) {
    const response = await fetch(`${platform.url}${path}`);
    assert.equal(response.status, 200, path);
    assert.ok((await response.text()).length > 50, path);
    assert.equal(response.headers.get("x-content-type-options"), "nosniff");
  }
});

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
}
type Operations = Record<string, { parameters?: Parameter[]; responses: Record<string, { $ref?: string }> }>;

test("a parameter is marked as required where a request without it is refused, in v1 and in v2", async () => {
  const token = await platform.token();
  const { paths } = (await platform.call("GET", "/openapi.json")).body as unknown as {
    paths: Record<string, Operations>;
  };
  const found: string[] = [];
  for (const [path, { get }] of Object.entries(paths)) {
    if (get === undefined || !/^\/[a-z]+\/v[12]\//.test(path)) continue;
    const url = path.replaceAll(/\{[^}]+\}/g, platform.organization);
    const { body } = await platform.call("GET", url, { token });
    const details = (body["details"] ?? []) as { fieldViolations?: { field: string; description: string }[] }[];
    const refused = details
      .flatMap(({ fieldViolations = [] }) => fieldViolations)
      .map(({ field }) => field)
      // Either the repo or references are needed, and a page token of v2 stands for the filters of its list.
      .filter((field) => !(path.includes("/counts") && field === "repo"))
      .filter((field) => !(path === "/advisory/v2/images/resolvedVulns" && field === "image_refs"));
    const required = get.parameters?.filter((each) => each.required) ?? [];
    for (const field of refused)
      assert.ok(
        required.some(({ name }) => name === field),
        `${path}: ${field} is required`,
      );
    if (path.includes("/v1/"))
      found.push(...required.filter((each) => each.in === "query").map(({ name }) => `${path} ${name}`));
  }
  assert.deepEqual(found.toSorted(), [
    "/advisory/v1/images/resolved_vulns image_refs",
    "/iam/v1/identities/lookup issuer",
    "/iam/v1/identities/lookup subject",
    "/registry/v1/vuln_reports/raw digest",
  ]);
});

test("every operation may be answered 431, as the server does for a head that is too large", async () => {
  const { paths, components } = (await platform.call("GET", "/openapi.json")).body as unknown as {
    paths: Record<string, Operations>;
    components: { responses: Record<string, object> };
  };
  for (const [path, operations] of Object.entries(paths))
    for (const [verb, { responses }] of Object.entries(operations)) {
      const [, name = ""] = /^#\/components\/responses\/(\w+)$/.exec(responses[431]?.$ref ?? "") ?? [];
      assert.ok(name in components.responses, `${verb} ${path}`);
    }
  const url = `/registry/v2/repos?name=${"x".repeat(70_000)}`;
  const { status, text } = await platform.call("GET", url, { token: await platform.token() });
  assert.equal(status, 431);
  checkAnswer("GET", url, { status, text });
});
