import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { createClient, type ConnectError } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { SecurityTokenService } from "@moorage/api";
import { ErrorInfoSchema } from "@moorage/api/gen/google/rpc/error_details_pb";
import { newUid } from "../../../kernel/src/lib/uid.ts";
import { credentialHelper, githubClaims, gitlabClaims } from "../../../server/test/support/ci-jobs.ts";
import { type Answer, type Installation, startInstallation } from "../../../server/test/support/installation.ts";
import { type Issuer, newKey, openIssuer } from "../../../server/test/support/issuer.ts";
import { openProvider } from "../../../server/test/support/openid-provider.ts";

// Pushes and pulls with the tokens of CI systems: which are accepted, which are not, and with which messages; and what
// these messages must not reveal.

interface House {
  server: Installation;
  issuer: Issuer;
  host: string;
  organization: string;
  /** A new identity of the organization; with a built-in role there if one is given. */
  identity(claimMatch: object | undefined, role?: string): Promise<string>;
}

async function openHouse(t: TestContext): Promise<House> {
  const server = await startInstallation(t, { MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  const issuer = await openIssuer();
  t.after(() => issuer.close());
  const organization = server.bootstrap.organization.uid;
  let count = 0;
  return {
    server,
    issuer,
    organization,
    host: new URL(server.url).host,
    async identity(claimMatch, role) {
      const { uid } = await server.api("POST", `/iam/v2/identities/${organization}`, {
        name: `ci ${(count += 1)}`,
        ...(claimMatch && { claimMatch }),
      });
      if (role !== undefined)
        await server.api("POST", `/iam/v2/roleBindings/${organization}`, {
          identityUid: uid,
          roleUid: await server.roleUid(role),
        });
      return uid;
    },
  };
}

const github = (issuer: Issuer): object => ({
  issuer: issuer.url,
  subjectPattern: "repo:acme/app:ref:refs/heads/.+",
  claims: { repository: "acme/app", runner_environment: "github-hosted" },
  claimPatterns: {
    job_workflow_ref: "acme/app/\\.github/workflows/release\\.yml@refs/heads/(main|release-.+)",
    environment: "prod.*",
  },
});
const gitlab = (issuer: Issuer): object => ({
  issuer: issuer.url,
  subject: "project_path:acme/app:ref_type:branch:ref:main",
  claims: { namespace_path: "acme", ref_protected: "true" },
  claimPatterns: { pipeline_source: "push|web" },
});
const PUSH = "repository:acme/app:pull,push";
const askToken = ({ server }: House, user: string, password: string, scope = PUSH): Promise<Answer> =>
  server.ask("GET", `/token?scope=${scope}`, { basic: `${user}:${password}` });
const detailOf = ({ json }: Answer): unknown => (json.errors[0] as { detail?: unknown } | undefined)?.detail;

async function refusedWith(house: House, user: string, password: string, words: string): Promise<Answer> {
  const answer = await askToken(house, user, password);
  assert.deepEqual([answer.status, answer.json.errors[0]?.code], [401, "UNAUTHORIZED"], answer.text);
  assert.equal(answer.json.message, `Unauthenticated: the credentials were not accepted: ${words}`);
  assert.equal(answer.json.errors[0]?.message, answer.json.message);
  assert.match(answer.headers.get("www-authenticate") ?? "", /^Basic realm=/);
  return answer;
}

test("a job of GitHub Actions pushes and pulls with the credential helper's token", async (t) => {
  const house = await openHouse(t);
  const { server, issuer, host } = house;
  const uid = await house.identity(github(issuer), "registry.push");
  const asked: string[] = [];
  issuer.routes.set(`/job?api-version=2.0&audience=${encodeURIComponent(server.url)}`, (request, response) => {
    asked.push(request.headers.authorization ?? "");
    void issuer
      .sign(githubClaims(issuer, server.url))
      .then((value) => response.end(JSON.stringify({ value, count: 1 })));
  });
  const env = {
    MOORAGE_REGISTRY_HOST: host,
    MOORAGE_IDENTITY: uid,
    MOORAGE_AUDIENCE: server.url,
    ACTIONS_ID_TOKEN_REQUEST_URL: `${issuer.url}/job?api-version=2.0`,
    ACTIONS_ID_TOKEN_REQUEST_TOKEN: "of-the-job",
  };
  const { code, stdout, stderr } = await credentialHelper("get", `http://${host}\n`, env);
  assert.deepEqual([code, stderr, asked], [0, "", ["Bearer of-the-job"]], stdout);
  const { Username, Secret } = JSON.parse(stdout) as { Username: string; Secret: string };
  assert.equal(Username, uid);
  const { token, access } = await server.grantsOf([PUSH], `${Username}:${Secret}`);
  assert.deepEqual(access, { "acme/app": ["pull", "push"] });
  const image = await server.pushImage("acme/app", "main", "keyless", { token });
  assert.equal(image.answer.status, 201, image.answer.text);
  assert.equal((await server.ask("GET", `/v2/acme/app/manifests/${image.digest}`, { token })).status, 200);
  // The job's token as the Basic password of a POST, as newer clients send it, and its claims in the issued token.
  const form = new URLSearchParams({
    grant_type: "password",
    username: uid,
    password: Secret,
    service: host,
    scope: PUSH,
    client_id: "test",
  }).toString();
  const posted = await server.ask("POST", "/token", {
    bytes: form,
    headers: { "content-type": "application/x-www-form-urlencoded" },
  });
  assert.equal(posted.status, 200, posted.text);
  const { act } = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as {
    act: Record<string, string>;
  };
  assert.deepEqual(
    [act["iss"], act["sub"], act["repository"]],
    [issuer.url, "repo:acme/app:ref:refs/heads/main", "acme/app"],
  );
});

test("a job of GitLab pushes with the token from its variable, or from a file", async (t) => {
  const house = await openHouse(t);
  const { server, issuer, host } = house;
  const uid = await house.identity(gitlab(issuer), "registry.push");
  const MOORAGE_ID_TOKEN = await issuer.sign(gitlabClaims(issuer, server.url));
  const { stdout } = await credentialHelper("get", host, {
    MOORAGE_REGISTRY_HOST: host,
    MOORAGE_IDENTITY: uid,
    MOORAGE_ID_TOKEN,
  });
  assert.deepEqual(JSON.parse(stdout), { ServerURL: host, Username: uid, Secret: MOORAGE_ID_TOKEN });
  const { token } = await server.grantsOf([PUSH], `${uid}:${MOORAGE_ID_TOKEN}`);
  assert.equal((await server.pushImage("acme/app", "main", "keyless", { token })).answer.status, 201);
});

test("a real provider's tokens are accepted by patterns for a job's claims, and refused for another subject", async (t) => {
  const house = await openHouse(t);
  const { server, issuer } = house;
  const { sub, repository, runner_environment, job_workflow_ref, environment } = githubClaims(issuer, server.url);
  const provider = await openProvider(server.url, String(sub), {
    repository,
    runner_environment,
    job_workflow_ref,
    environment,
  });
  t.after(() => provider.close());
  const uid = await house.identity({ ...github(issuer), issuer: provider.url }, "registry.pull");
  const { access } = await server.grantsOf([PUSH], `${uid}:${await provider.token()}`);
  assert.deepEqual(access, { "acme/app": ["pull"] });
  const plain = await openProvider(server.url);
  t.after(() => plain.close());
  const other = await house.identity({ ...github(issuer), issuer: plain.url });
  await refusedWith(house, other, await plain.token(), `identity ${other} does not accept claim sub, which is "ci"`);
});

test("the rejection of a token that the issuer signed names the claim that does not match, with the token's value and never the expected one", async (t) => {
  const house = await openHouse(t);
  const { issuer, server } = house;
  const [hub, lab] = [await house.identity(github(issuer)), await house.identity(gitlab(issuer))];
  const now = Math.floor(Date.now() / 1000);
  const workflow = "acme/app/.github/workflows/test.yml@refs/heads/main";
  const cases: [uid: string, claims: Record<string, unknown>, reason: string, claim: string, value: string][] = [
    [hub, { sub: "repo:acme/other:ref:refs/heads/main" }, "CLAIM", "sub", '"repo:acme/other:ref:refs/heads/main"'],
    [hub, { repository: "acme/other" }, "CLAIM", "repository", '"acme/other"'],
    [hub, { repository: undefined }, "CLAIM", "repository", "absent"],
    [hub, { repository: ["acme/other", 1] }, "CLAIM", "repository", '["acme/other",1]'],
    [hub, { job_workflow_ref: workflow }, "CLAIM", "job_workflow_ref", `"${workflow}"`],
    [hub, { environment: "x".repeat(500) }, "CLAIM", "environment", `"${"x".repeat(199)}…`],
    [hub, { environment: 'pro"\nd' }, "CLAIM", "environment", '"pro\\"\\nd"'],
    [
      hub,
      { aud: "https://else.example.com", sub: "other", exp: now - 5 },
      "AUDIENCE",
      "aud",
      '"https://else.example.com"',
    ],
    [hub, { exp: now - 5, sub: "other" }, "EXPIRED", "exp", String(now - 5)],
    [hub, { nbf: now + 600 }, "NOT_YET_VALID", "nbf", String(now + 600)],
    [lab, { ref_protected: "false" }, "CLAIM", "ref_protected", '"false"'],
    [lab, { pipeline_source: "merge_request_event" }, "CLAIM", "pipeline_source", '"merge_request_event"'],
    [
      lab,
      { sub: "project_path:acme/app:ref_type:branch:ref:feature" },
      "CLAIM",
      "sub",
      '"project_path:acme/app:ref_type:branch:ref:feature"',
    ],
  ];
  for (const [uid, changes, reason, claim, value] of cases) {
    const claims = (uid === hub ? githubClaims : gitlabClaims)(issuer, server.url, changes);
    const token = await issuer.sign(claims);
    const words =
      reason === "EXPIRED"
        ? `it has expired: claim exp is ${value}`
        : reason === "NOT_YET_VALID"
          ? `it is not valid yet: claim nbf is ${value}`
          : `identity ${uid} does not accept claim ${claim}, which is ${value}`;
    const answer = await refusedWith(house, uid, token, words);
    const expected = { reason, issuer: JSON.stringify(issuer.url), identity: uid, claim, value };
    assert.deepEqual(detailOf(answer), expected);
    const line = JSON.parse(server.lines.findLast((text) => text.includes("token exchange refused")) ?? "{}") as Record<
      string,
      unknown
    >;
    assert.deepEqual(
      { ...expected, subject: line["subject"], requestId: typeof line["requestId"] },
      {
        reason: line["reason"],
        issuer: line["issuer"],
        identity: line["identity"],
        claim: line["claim"],
        value: line["value"],
        subject: JSON.stringify(claims["sub"]),
        requestId: "string",
      },
    );
    for (const expectation of ["release-.+", "push|web", "github-hosted"])
      assert.ok(!answer.text.includes(expectation), "the answer does not contain the expected value");
  }
  assert.ok(!server.lines.some((line) => /eyJ/.test(line)), "no token is in the log");
});

test("missing, deleted, foreign and bare identities, and tokens that the issuer did not sign, get the same answer and cause no requests", async (t) => {
  const house = await openHouse(t);
  const { issuer, server, organization } = house;
  const other = await openIssuer();
  t.after(() => other.close());
  const named = await house.identity(github(issuer), "registry.push");
  const elsewhere = await house.identity(github(other), "registry.push");
  const bare = await house.identity(undefined, "registry.push");
  const deleted = await house.identity(github(issuer));
  await server.api("DELETE", `/iam/v2/identities/${deleted}`);
  const { uid: foreignOrganization } = (await server.api("GET", "/iam/v2/groups?name=public")).groups[0] ?? { uid: "" };
  const { uid: foreign } = await server.api("POST", `/iam/v2/identities/${foreignOrganization}`, {
    name: "foreign",
    claimMatch: github(other),
  });
  const { uid: offline } = await server.api("POST", `/iam/v2/identities/${organization}`, {
    name: "offline",
    staticKeys: { issuer: "offline", subject: "robot", issuerKeys: JSON.stringify({ keys: [newKey("k").jwk] }) },
  });

  const plain = ({ status, headers, text }: Answer, uid: string): string => {
    const kept = [...headers].filter(([name]) => !["date", "x-request-id"].includes(name));
    return JSON.stringify([status, kept, text])
      .replaceAll(uid, "<uid>")
      .replace(/"requestId\\?":\\?"[^"\\]*/g, "");
  };
  // Uids of the same length, so that the answers have the same length.
  const missing = newUid(organization);
  const good = await issuer.sign(githubClaims(issuer, server.url));
  const first = await askToken(house, missing, good);
  assert.equal(
    first.json.message,
    `Unauthenticated: the credentials were not accepted: no identity ${missing} accepts this token of issuer "${issuer.url}"`,
  );
  for (const uid of [elsewhere, bare, deleted, foreign, offline])
    assert.equal(plain(await askToken(house, uid, good), uid), plain(first, missing), uid);
  assert.deepEqual([issuer.requests, other.requests], [[], []], "nobody was asked");

  // Where the identity names the issuer, its keys are read, once, and a token that it did not sign gets the same
  // answer: valid claims, expired times, another audience.
  const { privateKey } = newKey("one");
  for (const changes of [
    {},
    { exp: 1 },
    { nbf: 9_999_999_999 },
    { aud: "x" },
    { sub: "other" },
    { repository: "other" },
  ]) {
    const forged = await issuer.sign(githubClaims(issuer, server.url, changes), {}, privateKey);
    assert.equal(plain(await askToken(house, named, forged), named), plain(first, missing), JSON.stringify(changes));
  }
  for (const kid of ["a", "b", "c"]) {
    const unknown = await issuer.sign(githubClaims(issuer, server.url), { kid });
    assert.equal(plain(await askToken(house, named, unknown), named), plain(first, missing), kid);
  }
  assert.deepEqual(issuer.requests, ["/.well-known/openid-configuration", "/jwks"]);

  // The log has the full reason.
  const lines = server.lines
    .filter((line) => line.includes("token exchange refused"))
    .map((line) => JSON.parse(line) as { why: string; reason: string });
  assert.deepEqual([...new Set(lines.map(({ reason }) => reason))], ["NOT_ACCEPTED"]);
  assert.match(lines[0]?.why ?? "", /does not exist/);
  assert.match(lines.at(-1)?.why ?? "", /bad signature or unknown key/);
  await askToken(house, named, good).then(({ status }) => assert.equal(status, 200));
});

test("the answer says why the keys of an issuer cannot be read, when it answers wrongly and when it is down", async (t) => {
  const house = await openHouse(t);
  const { issuer, server } = house;
  const uid = await house.identity(github(issuer));
  const token = await issuer.sign(githubClaims(issuer, server.url));
  issuer.routes.set("/jwks", (_request, response) => response.writeHead(404).end());
  const because = "it answers 404, not a document";
  await refusedWith(house, uid, token, `its issuer "${issuer.url}" cannot be used: ${because}`);
  const line = server.lines.findLast((text) => text.includes("token exchange refused")) ?? "";
  assert.ok(line.includes(`"why":"${because}"`), line);
  const down = await openIssuer();
  const other = await house.identity(github(down));
  const orphan = await down.sign(githubClaims(down, server.url));
  await down.close();
  const answer = await askToken(house, other, orphan);
  assert.equal(answer.status, 503, answer.text);
  assert.equal(
    answer.json.message,
    `Unavailable: the token issuer ${new URL(down.url).host} could not be asked for its keys: it refuses connections`,
  );
  assert.ok(answer.headers.has("retry-after"));
});

test("without a uid as the user name, the one identity with the issuer and subject is used, unless there are several", async (t) => {
  const house = await openHouse(t);
  const { issuer, server } = house;
  const exact = {
    issuer: issuer.url,
    subject: "repo:acme/app:ref:refs/heads/main",
    claims: { environment: "production" },
  };
  const token = await issuer.sign(githubClaims(issuer, server.url));
  const nobody = `no identity was named, and none with its issuer and subject accepts this token of issuer "${issuer.url}"`;
  await refusedWith(house, "moorage", token, nobody);
  await house.identity(exact, "registry.push");
  assert.equal((await askToken(house, "moorage", token)).status, 200);
  const other = await issuer.sign(githubClaims(issuer, server.url, { environment: "test" }));
  await refusedWith(
    house,
    "moorage",
    other,
    'the identity with this issuer and subject does not accept claim environment, which is "test"',
  );
  await refusedWith(
    house,
    "moorage",
    await issuer.sign(githubClaims(issuer, server.url), {}, newKey("one").privateKey),
    nobody,
  );
  const { uid: beta } = await server.api("POST", "/iam/v2/groups", { name: "beta" });
  const { uid: planted } = await server.api("POST", `/iam/v2/identities/${beta}`, {
    name: "planted",
    claimMatch: exact,
  });
  assert.equal((await askToken(house, "moorage", token)).status, 200, "the image's organization is acme");
  const elsewhere = await askToken(house, "moorage", token, "repository:gamma/app:pull");
  assert.equal(elsewhere.status, 400);
  assert.ok(elsewhere.json.message.includes(`${planted} (beta)`), elsewhere.text);
  await house.identity(exact);
  const twice = await askToken(house, "moorage", token);
  assert.equal(twice.status, 400);
  assert.match(
    twice.json.message,
    /^Invalid argument: identity: several identities accept this token; name one, or a group of its organization as the scope: \S+ \(acme\), \S+ \(acme\)$/,
  );
});

test("the exchange answers the same by its HTTP endpoints and by gRPC", async (t) => {
  const house = await openHouse(t);
  const { issuer, server } = house;
  const uid = await house.identity(github(issuer));
  const token = await issuer.sign(githubClaims(issuer, server.url, { environment: 'te"st' }));
  const words = `the token was not accepted: identity ${uid} does not accept claim environment, which is "te\\"st"`;
  const metadata = {
    reason: "CLAIM",
    issuer: `"${issuer.url}"`,
    identity: uid,
    claim: "environment",
    value: '"te\\"st"',
  };
  const answer = await server.ask("GET", `/sts/exchange?identity=${uid}`, { token });
  assert.deepEqual([answer.status, answer.json.message], [401, `Unauthenticated: ${words}`]);
  const [info] = answer.json.details as { "@type": string; reason?: string; metadata?: Record<string, string> }[];
  assert.deepEqual([info?.reason, info?.metadata], ["UNAUTHENTICATED", metadata]);
  const client = createClient(SecurityTokenService, createGrpcTransport({ baseUrl: server.url }));
  await assert.rejects(
    client.exchange({ identity: uid }, { headers: { authorization: `Bearer ${token}` }, timeoutMs: 60_000 }),
    (error: ConnectError) => {
      assert.equal(error.rawMessage, `Unauthenticated: ${words}`);
      assert.deepEqual(error.findDetails(ErrorInfoSchema)[0]?.metadata, metadata);
      return true;
    },
  );
  const type = "urn:ietf:params:oauth:token-type:jwt";
  const form = {
    grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
    subject_token: token,
    subject_token_type: type,
    identity: uid,
  };
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const oauth = await server.ask("POST", "/sts/token", { bytes: new URLSearchParams(form).toString(), headers });
  const expected = { error: "invalid_request", error_description: `${words.slice(0, words.indexOf('"'))}'te?'st'` };
  assert.deepEqual([oauth.status, JSON.parse(oauth.text)], [400, expected]);
});
