import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { after, before, describe, test } from "node:test";
import {
  AccountAssociationsService,
  CheckAccountAssociationRequest_AccountProviderType as Provider,
} from "@moorage/api";
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from "jose";
import { both } from "../../../server/test/support/rest-and-grpc.ts";
import { type Answer, blamed, type Json, type Platform, startPlatform } from "../../../server/test/support/platform.ts";

// One account association for each group, and the check that asks the provider's token endpoint, which a local server
// stands in for. Source: docs/contract.md, "Resources".
interface Asked {
  path: string;
  form: URLSearchParams;
}
type Play = (asked: Asked, res: ServerResponse) => void;

const METHODS = AccountAssociationsService.method;
const ACCOUNT = "123456789012";
const TENANT = "8f0f1c2e-7a51-4d1c-9d57-0f6a5f1f0a11";
const CLIENTS = { scanner: "11111111-2222-3333-4444-555555555555", pusher: "66666666-7777-8888-9999-aaaaaaaaaaaa" };
const SHAPES = {
  name: "cloud",
  description: "ours",
  amazon: { account: ACCOUNT },
  google: { projectId: "acme-build-7", projectNumber: "998877665544" },
  azure: { tenantId: TENANT, clientIds: CLIENTS },
  github: {
    appInstallations: {
      "1234": {
        installations: [
          { installationId: "9007199254740993", name: "acme" },
          { installationId: "2", name: "" },
        ],
      },
    },
  },
};

let platform: Platform;
let root: string;
let token: string;
let asked: Asked[] = [];
let play: Play;
const provider = createServer((req: IncomingMessage, res) => {
  void text(req).then((body) => {
    const one = { path: `${req.method} ${req.url}`, form: new URLSearchParams(body) };
    asked.push(one);
    play(one, res);
  });
});
before(async () => {
  await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  platform = await startPlatform({
    MOORAGE_ALLOW_PRIVATE_NETWORK: "1",
    MOORAGE_AWS_STS_URL: url,
    MOORAGE_GOOGLE_STS_URL: url,
    MOORAGE_AZURE_LOGIN_URL: url,
  });
  root = platform.organization;
  token = await platform.token();
});
after(async () => {
  await platform.close();
  provider.closeAllConnections();
  provider.close();
});

const path = (group: string): string => `/iam/v2/accountAssociations/${group}`;
const newGroup = async (parent = root): Promise<string> => (await platform.group(parent)).uid;
const associate = (group: string, fields: object): Promise<Json> => platform.ok("POST", path(group), fields);
const check = async (uid: string, providerType: Provider, answer: Play): Promise<unknown[]> => {
  [asked, play] = [[], answer];
  const { body } = await both(platform, METHODS.checkAccountAssociation, { uid, providerType }, token);
  return [body["status"], body["reason"], body.message];
};

test("an association of every form can be created, read, updated and deleted", async () => {
  const group = await newGroup();
  const identity = await platform.identity(root);
  const fields = { ...SHAPES, services: { serviceBindings: { scanner: identity } } };
  const made = await associate(group, fields);
  const { uid, createTime, updateTime, ...rest } = made;
  assert.deepEqual([uid, createTime === updateTime, rest], [group, true, fields]);
  assert.deepEqual((await both(platform, METHODS.getAccountAssociation, { uid: group }, token)).body, made);
  assert.equal(
    (
      await both(
        platform,
        METHODS.createAccountAssociation,
        { parent: group, accountAssociation: { name: "second" } },
        token,
      )
    ).status,
    409,
  );

  const list = (query: string): Promise<Json> => platform.ok("GET", `/iam/v2/accountAssociations?${query}`);
  for (const query of [`uidp.ids=${group}`, `uidp.descendants_of=${group}`, `name=cloud&uidp.children_of=${root}`]) {
    assert.deepEqual((await list(query))["accountAssociations"], [made], query);
  }
  assert.deepEqual((await list(`name=cloud2&uidp.children_of=${root}`))["accountAssociations"], []);

  const patch = (query: string, body: object): Promise<Json> => platform.ok("PATCH", `${path(group)}${query}`, body);
  platform.clock.offsetMs += 1000;
  const changed = await patch("", { description: "", amazon: { account: "210987654321" } });
  assert.ok(changed.updateTime > made.updateTime);
  assert.deepEqual(changed, {
    ...made,
    description: "",
    amazon: { account: "210987654321" },
    updateTime: changed.updateTime,
  });
  const tenant = "00000000-0000-4000-8000-000000000000";
  assert.deepEqual((await patch("?updateMask=azure.tenant_id", { azure: { tenantId: tenant } }))["azure"], {
    tenantId: tenant,
    clientIds: CLIENTS,
  });
  const last = await patch("?updateMask=*", { name: "bare" });
  assert.deepEqual(last, { uid: group, name: "bare", description: "", createTime, updateTime: last.updateTime });

  assert.equal((await platform.call("DELETE", path(group), { token })).status, 200);
  assert.equal((await both(platform, METHODS.getAccountAssociation, { uid: group }, token)).status, 404);
  assert.equal((await platform.call("DELETE", path(group), { token })).status, 404);
  await associate(group, { name: "again" });
});

test("the error for an invalid account names every invalid field", async () => {
  const group = await newGroup();
  const wrong = async (accountAssociation: object): Promise<string[]> =>
    blamed(await platform.call("POST", path(group), { token, body: accountAssociation }));
  const values: [provider: string, field: string, wrong: string[]][] = [
    ["amazon", "account", ["", "12345678901", "1234567890123", "12345678901a"]],
    ["google", "projectId", ["Acme-build", "short", "a".repeat(31), "ends-in-dash-", "1acme-build"]],
    ["google", "projectNumber", ["0123", "12a", "1".repeat(20)]],
    ["azure", "tenantId", ["", "8f0f1c2e7a514d1c9d570f6a5f1f0a11", `${TENANT}0`, "contoso.example.com"]],
  ];
  for (const [name, field, each] of values) {
    for (const value of each)
      assert.deepEqual(await wrong({ [name]: { [field]: value } }), [`${name}.${field}`], value);
  }
  assert.deepEqual(await wrong({ google: {} }), ["google.projectId"]);
  assert.deepEqual(await wrong({ azure: { tenantId: TENANT, clientIds: { a: "b", "": CLIENTS.pusher } } }), [
    "azure.clientIds.a",
    "azure.clientIds",
  ]);
  const installed = (...installations: object[]): object => ({
    github: { appInstallations: { "12": { installations } } },
  });
  assert.deepEqual(await wrong({ github: { appInstallations: { "0": {} } } }), ["github.appInstallations.0"]);
  const ids = [0, 2].map((at) => `github.appInstallations.12.installations[${at}].installationId`);
  assert.deepEqual(
    await wrong(installed({ installationId: "0" }, { installationId: "3" }, { installationId: "3" })),
    ids,
  );
  assert.deepEqual(await wrong(installed({ installationId: "3", name: "a".repeat(256) })), [
    "github.appInstallations.12.installations[0].name",
  ]);
  assert.deepEqual(await wrong({ amazon: { account: "1" }, azure: { tenantId: "x" }, google: {} }), [
    "amazon.account",
    "azure.tenantId",
    "google.projectId",
  ]);
  assert.deepEqual(
    blamed(
      await both(
        platform,
        METHODS.createAccountAssociation,
        { parent: group, accountAssociation: { amazon: {} } },
        token,
      ),
    ),
    ["amazon.account"],
  );
  assert.equal((await platform.call("GET", path(group), { token })).status, 404, "nothing is made");
  await associate(group, { google: { projectId: "example.com:acme-build" } });
});

describe("service identities of an association", () => {
  const bind = (uid: string, identity: string, by = token): Promise<Answer> =>
    platform.call("PATCH", path(uid), { token: by, body: { services: { serviceBindings: { scanner: identity } } } });

  test("are identities of the organization that the caller may see", async () => {
    const group = await newGroup();
    await associate(group, {});
    const { uid: other } = await platform.ok("POST", "/iam/v2/groups", { name: "another-organization" });
    for (const identity of ["no-uid", `${root}/${"0".repeat(16)}`, platform.owner, await platform.identity(other)]) {
      assert.deepEqual(blamed(await bind(group, identity)), ["services.serviceBindings"], identity);
    }
    const identity = await platform.identity(await newGroup());
    assert.equal((await bind(group, identity)).status, 200, "wherever it stands in the organization");
    // An identity deleted since stays in the association, but cannot be set again.
    await platform.ok("DELETE", `/iam/v2/identities/${identity}`);
    assert.equal((await platform.call("PATCH", path(group), { token, body: { description: "new" } })).status, 200);
    assert.equal((await bind(group, identity)).status, 200, "nothing is changed by it");
    const name = { services: { serviceBindings: { "a service": identity } } };
    assert.deepEqual(blamed(await platform.call("PATCH", path(group), { token, body: name })), [
      "services.serviceBindings",
      "services.serviceBindings",
    ]);
  });

  test("cannot be identities with more rights than the caller", async () => {
    const group = await newGroup();
    await associate(group, {});
    const capabilities = [
      "CAP_IAM_ACCOUNT_ASSOCIATIONS_UPDATE",
      "CAP_IAM_ACCOUNT_ASSOCIATIONS_LIST",
      "CAP_IAM_IDENTITY_LIST",
    ];
    const { uid: role } = await platform.ok("POST", `/iam/v2/roles/${group}`, { name: "associate", capabilities });
    const clerk = await platform.identity(group);
    await platform.bind(group, clerk, role);
    const by = await platform.token(clerk);
    assert.match(
      (await bind(group, await platform.identity(group, "viewer"), by)).text,
      /only capabilities that the caller holds/,
    );
    assert.equal((await bind(group, await platform.identity(group), by)).status, 200);
  });
});

describe("the check", () => {
  const json =
    (status: number, body: object): Play =>
    (_, res) =>
      void res.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  const xml =
    (status: number, body: string): Play =>
    (_, res) =>
      void res.writeHead(status, { "content-type": "text/xml" }).end(body);
  const KEYS =
    "<Credentials><AccessKeyId>ASIAEXAMPLE</AccessKeyId><SecretAccessKey>secret-key-of-theirs</SecretAccessKey><SessionToken>s</SessionToken></Credentials>";
  const GOOD = json(200, { access_token: "token-of-theirs", token_type: "Bearer" });
  let group: string;
  before(async () => {
    group = await newGroup();
    await associate(group, SHAPES);
  });

  /** The claims of the token that was sent, verified by the published keys. */
  async function claimsOf(jwt: string | null): Promise<Record<string, unknown>> {
    const keys = (await platform.call("GET", "/.well-known/jwks.json")).body as unknown as JSONWebKeySet;
    return (
      await jwtVerify(jwt ?? "", createLocalJWKSet(keys), {
        issuer: platform.bootstrap.baseUrl,
        currentDate: new Date(platform.clock.nowMs()),
      })
    ).payload;
  }

  test("asks Amazon for a role of the account", async () => {
    const body = `<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult>${KEYS}</AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`;
    assert.deepEqual(await check(group, Provider.AMAZON, xml(200, body)), [
      "CHECK_STATUS_READY",
      "",
      "the provider lets this installation in",
    ]);
    const { path: target, form } = asked[0] ?? assert.fail();
    assert.deepEqual(
      [target, form.get("Action"), form.get("RoleArn")],
      ["POST /", "AssumeRoleWithWebIdentity", `arn:aws:iam::${ACCOUNT}:role/moorage-check`],
    );
    const { sub, aud, exp = 0, iat = 0 } = await claimsOf(form.get("WebIdentityToken"));
    assert.deepEqual([sub, aud, Number(exp) - Number(iat)], [group, "sts.amazonaws.com", 300]);
    const rejection =
      "<ErrorResponse><Error><Code>AccessDenied</Code><Message>Not authorized\n to assume</Message></Error></ErrorResponse>";
    assert.deepEqual(await check(group, Provider.AMAZON, xml(403, rejection)), [
      "CHECK_STATUS_NOT_READY",
      "REFUSED",
      "the provider answered 403: AccessDenied: Not authorized to assume",
    ]);
    assert.equal((await check(group, Provider.AMAZON, xml(200, "<html>welcome</html>")))[1], "UNEXPECTED_ANSWER");
  });

  test("exchanges a token with Google for the pool of the project", async () => {
    assert.equal((await check(group, Provider.GOOGLE, GOOD))[0], "CHECK_STATUS_READY");
    const { path: target, form } = asked[0] ?? assert.fail();
    const pool =
      "//iam.googleapis.com/projects/998877665544/locations/global/workloadIdentityPools/moorage/providers/moorage";
    assert.deepEqual(
      [target, form.get("audience"), form.get("grant_type")],
      ["POST /v1/token", pool, "urn:ietf:params:oauth:grant-type:token-exchange"],
    );
    const { sub, aud } = await claimsOf(form.get("subject_token"));
    assert.deepEqual([sub, aud], [group, `https:${pool}`]);
    assert.deepEqual(
      await check(group, Provider.GOOGLE, json(400, { error: "invalid_target", error_description: "no such pool" })),
      ["CHECK_STATUS_NOT_READY", "REFUSED", "the provider answered 400: invalid_target: no such pool"],
    );
    assert.equal((await check(group, Provider.GOOGLE, json(200, { access_token: "" })))[1], "UNEXPECTED_ANSWER");
  });

  test("signs in to Azure as each client", async () => {
    assert.equal((await check(group, Provider.AZURE, GOOD))[0], "CHECK_STATUS_READY");
    // Called by REST and by gRPC.
    assert.deepEqual(new Set(asked.map(({ form }) => form.get("client_id"))), new Set(Object.values(CLIENTS)));
    const { path: target, form } = asked[0] ?? assert.fail();
    assert.equal(target, `POST /${TENANT}/oauth2/v2.0/token`);
    assert.deepEqual((await claimsOf(form.get("client_assertion")))["aud"], "api://AzureADTokenExchange");
    const one: Play = (ask, res) =>
      (ask.form.get("client_id") === CLIENTS.pusher ? json(401, { error: "invalid_client" }) : GOOD)(ask, res);
    assert.deepEqual(await check(group, Provider.AZURE, one), [
      "CHECK_STATUS_NOT_READY",
      "REFUSED",
      "the provider answered 401: invalid_client",
    ]);
  });

  test("is NOT_READY with a reason for every failure of the provider, and reveals nothing of its answer", async () => {
    const cases: [string, string, Play][] = [
      ["garbage", "UNEXPECTED_ANSWER", (_, res) => void res.writeHead(200).end(Buffer.from([0xff, 0, 0x7b]))],
      ["deeply nested", "UNEXPECTED_ANSWER", (_, res) => void res.writeHead(200).end("[".repeat(10_000))],
      ["an error of theirs", "PROVIDER_ERROR", json(503, { error: "later" })],
      ["too many requests", "PROVIDER_ERROR", json(429, {})],
      ["a redirect", "NOT_ALLOWED", (_, res) => void res.writeHead(302, { location: "http://127.0.0.1:1/" }).end()],
      ["far too much", "NOT_ALLOWED", (_, res) => void res.writeHead(200).end("x".repeat(100_000))],
      ["an encoding", "NOT_ALLOWED", (_, res) => void res.writeHead(200, { "content-encoding": "gzip" }).end("x")],
      ["a closed connection", "UNREACHABLE", (_, res) => void res.destroy()],
      [
        "our own token",
        "REFUSED",
        (ask, res) => void json(400, { error: ask.form.get("subject_token") ?? "" })(ask, res),
      ],
    ];
    for (const [what, reason, answer] of cases) {
      const result = await check(group, Provider.GOOGLE, answer);
      assert.deepEqual(result.slice(0, 2), ["CHECK_STATUS_NOT_READY", reason], what);
      for (const { form } of asked)
        assert.ok(!String(result[2]).includes(form.get("subject_token")?.slice(0, 50) ?? "-"), what);
      assert.ok(String(result[2]).length < 400, what);
    }
  });

  test(
    "gives up on a provider that does not answer, and on one that cannot be reached",
    { timeout: 300_000 },
    async () => {
      [asked, play] = [[], () => {}];
      const ask = (): Promise<Answer> =>
        platform.call("POST", `${path(group)}:checkAccountAssociation`, {
          token,
          body: { providerType: "ACCOUNT_PROVIDER_TYPE_AMAZON" },
        });
      const slow = await ask();
      assert.deepEqual(
        [slow.status, slow.body["status"], slow.body["reason"]],
        [200, "CHECK_STATUS_NOT_READY", "UNREACHABLE"],
      );
      const gone = await startPlatform({
        MOORAGE_ALLOW_PRIVATE_NETWORK: "1",
        MOORAGE_AWS_STS_URL: "http://127.0.0.1:1",
        MOORAGE_GOOGLE_STS_URL: "http://127.0.0.1:1",
      });
      try {
        await gone.ok("POST", path(gone.organization), SHAPES);
        for (const providerType of ["AMAZON", "GOOGLE"]) {
          const { status, reason } = await gone.ok("POST", `${path(gone.organization)}:checkAccountAssociation`, {
            providerType,
          });
          assert.deepEqual([status, reason], ["CHECK_STATUS_NOT_READY", "UNREACHABLE"]);
        }
      } finally {
        await gone.close();
      }
    },
  );

  test("sends no request when the association is incomplete", async () => {
    const bare = await newGroup();
    await associate(bare, { google: { projectId: "acme-build" }, azure: { tenantId: TENANT } });
    for (const [type, reason] of [
      [Provider.AMAZON, "NOT_CONFIGURED"],
      [Provider.GOOGLE, "INCOMPLETE"],
      [Provider.AZURE, "INCOMPLETE"],
    ] as const) {
      assert.deepEqual((await check(bare, type, GOOD)).slice(0, 2), ["CHECK_STATUS_NOT_READY", reason]);
      assert.deepEqual(asked, []);
    }
    for (const providerType of [Provider.UNSPECIFIED, 7 as Provider]) {
      const { message, error } = await platform.grpc.call(
        METHODS.checkAccountAssociation,
        { uid: bare, providerType },
        token,
      );
      assert.equal(message, undefined);
      assert.match(JSON.stringify(error), /providerType/);
    }
    assert.equal(
      (
        await both(
          platform,
          METHODS.checkAccountAssociation,
          { uid: await newGroup(), providerType: Provider.AMAZON },
          token,
        )
      ).status,
      404,
    );
  });

  test("sends tokens that this server itself does not accept", async () => {
    await check(group, Provider.GOOGLE, GOOD);
    const sent = asked[0]?.form.get("subject_token") ?? "";
    assert.equal((await platform.call("GET", "/iam/v2/groups", { token: sent })).status, 401);
    assert.equal((await platform.call("GET", "/sts/exchange", { token: sent })).status, 401);
    assert.equal((await platform.call("GET", "/v2/", { token: sent })).status, 401);
    const basic = { authorization: `Basic ${Buffer.from(`user:${sent}`).toString("base64")}` };
    assert.notEqual(
      (await platform.call("GET", "/token?scope=repository:acme/app:pull", { headers: basic })).status,
      200,
    );
  });
});

test("a group with an association can be deleted, and the association is deleted with it", async () => {
  const group = await newGroup();
  await associate(group, SHAPES);
  await platform.ok("DELETE", `/iam/v2/groups/${group}`);
  assert.equal((await platform.call("GET", path(group), { token })).status, 404);
  assert.equal((await platform.ok("GET", `/iam/v2/accountAssociations?uidp.ids=${group}`)).totalCount, "0");
});
