import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { blamed, type Platform, startPlatform } from "../support/platform.ts";

// The constraints of the OpenAPI document are those of the server: what one refuses, the other refuses too.
interface Operation {
  parameters: { name: string; in: string; required?: boolean; schema: { type?: string } }[];
  requestBody?: { required: boolean; content: { "application/json": { schema: object } } };
}
let platform: Platform;
let token: string;
let group: string;
let repo: string;
let paths: Record<string, Record<string, Operation>>;
const ajv = new Ajv2020({ strict: false, allErrors: true });
formats.default(ajv);
before(async () => {
  platform = await startPlatform({ MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  token = await platform.token();
  group = (await platform.group(platform.organization)).uid;
  repo = (await platform.repo(group)).uid;
  const document = (await platform.call("GET", "/openapi.json")).body;
  paths = document["paths"] as typeof paths;
  ajv.addSchema(document, "api");
});
after(() => platform.close());

const inDocument = (path: string, verb: string): Operation =>
  paths[path]?.[verb.toLowerCase()] ?? assert.fail(`${verb} ${path} is not in the document`);

/** Whether a schema of the document accepts the value; references in it are to the document. */
function accepts(schema: object, value: unknown): boolean {
  const absolute = JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"api#/components/')) as object;
  return ajv.validate(absolute, value);
}

test("a body is valid by the document exactly if the server accepts it", async () => {
  const oidc = { issuer: "https://issuer.example.com", clientId: "c" };
  const viewer = await platform.role("viewer");
  const member = await platform.identity(group);
  const installations = { "1234": { installations: [{ installationId: "7", name: "acme" }] } };
  const cases: [path: string, parent: string, body: object, isValid: boolean][] = [
    ["/iam/v2/groups/{uid}", group, { name: "" }, false],
    ["/iam/v2/groups/{uid}", group, {}, false],
    ["/iam/v2/groups/{uid}", group, { name: "abc", description: "🦀".repeat(4096) }, true],
    ["/iam/v2/groups/{uid}", group, { name: "bcd", description: "🦀".repeat(4097) }, false],
    ["/iam/v2/groups/{uid}", group, { name: "cde", kind: "ORG_KIND_OTHER" }, false],
    ["/iam/v2/identityProviders/{uid}", platform.organization, { name: "a" }, false],
    ["/iam/v2/identityProviders/{uid}", platform.organization, { name: "a", oidc: { ...oidc, clientId: "" } }, false],
    ["/iam/v2/identityProviders/{uid}", platform.organization, { name: "a", oidc }, true],
    ["/iam/v2/accountAssociations/{uid}", group, { github: { appInstallations: { one: {} } } }, false],
    ["/iam/v2/accountAssociations/{uid}", group, { github: { appInstallations: { "01": {} } } }, false],
    ["/iam/v2/accountAssociations/{uid}", group, { name: "a", github: { appInstallations: installations } }, true],
    ["/iam/v2/groupInvites/{uid}", group, { roleUid: viewer, ttl: "3600" }, false],
    ["/iam/v2/groupInvites/{uid}", group, { roleUid: viewer, ttl: "3600.s" }, false],
    ["/iam/v2/groupInvites/{uid}", group, { roleUid: viewer, ttl: "1234567890123s" }, false],
    ["/iam/v2/groupInvites/{uid}", group, { roleUid: viewer, ttl: "3600.5s" }, true],
    ["/iam/v2/roleBindings/{uid}", group, { identityUid: "", roleUid: viewer }, false],
    ["/iam/v2/roleBindings/{uid}", group, { identityUid: member, roleUid: viewer }, true],
    ["/registry/v2/repos/{uid}", group, { name: "kept", tagPolicy: { retention: [{ keepLast: -1 }] } }, false],
    ["/registry/v2/repos/{uid}", group, { name: "kept", tagPolicy: { retention: [{ keepLast: 2 ** 31 }] } }, false],
    ["/registry/v2/repos/{uid}", group, { name: "kept", tagPolicy: { retention: [{ keepLast: 3 }] } }, true],
    ["/registry/v2/tags/{uid}", repo, { name: "1.0", digest: "" }, false],
  ];
  for (const [path, parent, body, isValid] of cases) {
    const { schema } = inDocument(path, "POST").requestBody?.content["application/json"] ?? assert.fail(path);
    const answer = await platform.call("POST", path.replace("{uid}", parent), { token, body });
    const what = `${path} ${JSON.stringify(body).slice(0, 200)}`;
    assert.equal(answer.status, isValid ? 200 : 400, `${what}: ${answer.text.slice(0, 300)}`);
    assert.equal(accepts(schema, body), isValid, `by the document: ${what}`);
  }
  const check = "/iam/v2/accountAssociations/{uid}:checkAccountAssociation";
  const { schema } = inDocument(check, "POST").requestBody?.content["application/json"] ?? assert.fail(check);
  assert.equal(accepts(schema, { providerType: "ACCOUNT_PROVIDER_TYPE_UNSPECIFIED" }), false);
  assert.equal(accepts(schema, { providerType: "ACCOUNT_PROVIDER_TYPE_AMAZON" }), true);
});

test("parameters that the server demands are required, and page sizes have their bounds", async () => {
  for (const [path, name] of [
    ["/events/v2/events", "group"],
    ["/iam/v2/identities:lookupIdentity", "issuer"],
    ["/iam/v2/identities:lookupIdentity", "subject"],
  ] as const) {
    const parameter = inDocument(path, "GET").parameters.find((each) => each.name === name) ?? assert.fail(name);
    assert.equal(parameter.required, true, `${path} ${name}`);
    assert.equal(accepts(parameter.schema, ""), false);
    assert.ok(blamed(await platform.call("GET", path, { token })).includes(name), `${path} without ${name}`);
  }
  for (const [path, operations] of Object.entries(paths)) {
    for (const name of ["page_size", "skip"]) {
      const parameter = operations["get"]?.parameters.find((each) => each.name === name);
      if (parameter === undefined) continue;
      // One of 64 bits is text in the document, and may be larger.
      const isLong = parameter.schema.type === "string";
      for (const [value, isValid] of [
        [-1, false],
        [0, true],
        [2_147_483_647, true],
        [2_147_483_648, isLong],
      ] as const) {
        assert.equal(accepts(parameter.schema, isLong ? String(value) : value), isValid, `${path} ${name}=${value}`);
        if (path.includes("{")) continue;
        const needsGroup = operations["get"]?.parameters.some(
          (each) => each.name === "group" && each.required === true,
        );
        const needsEcosystem = path.startsWith("/libraries/v2/artifacts");
        const query = `${name}=${value}${needsGroup === true ? `&group=${group}` : ""}${needsEcosystem ? "&ecosystems=ECOSYSTEM_JAVA" : ""}`;
        const answer = await platform.call("GET", `${path}?${query}`, { token });
        const refused = answer.status === 400 && blamed(answer).includes(name);
        assert.equal(refused, !isValid, `${path} ${name}=${value}: ${answer.text}`);
      }
    }
  }
});

test("a body is optional only where the server asks for nothing in it", async () => {
  const { uid } = await platform.subscription(group);
  const pause = "/events/v2/subscriptions/{uid}:pause";
  assert.equal(inDocument(pause, "POST").requestBody?.required, false);
  assert.equal((await platform.call("POST", pause.replace("{uid}", uid), { token })).status, 200);
  assert.equal(inDocument("/iam/v2/accountAssociations/{uid}", "POST").requestBody?.required, true);
});
