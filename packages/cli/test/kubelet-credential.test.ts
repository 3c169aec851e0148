import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { runWith, openInstallation, type Installation } from "./keyless-server.ts";

// `moorage-credential-kubelet` as the kubelet runs it: the request on standard input, the response on standard output.
// The JSON is that of the Kubernetes documentation, "Kubelet CredentialProvider (v1)".

const API_VERSION = "credentialprovider.kubelet.k8s.io/v1";
const PROGRAM = "moorage-credential-kubelet";
const JWT = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJqb2IifQ.c2lnbmF0dXJl";

interface Response {
  apiVersion: string;
  kind: string;
  cacheKeyType: string;
  cacheDuration: string;
  auth: Record<string, { username: string; password: string }> | null;
}

function request(image: string, more: object = {}): string {
  return JSON.stringify({ apiVersion: API_VERSION, kind: "CredentialProviderRequest", image, ...more });
}

/** The status of a pull of the manifest with a password, as containerd does it: /token, then the manifest. */
async function pull({ url }: Installation, image: string, username: string, password: string): Promise<number> {
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
  const answer = await fetch(`${url}/token?scope=repository:${image}:pull,push`, { headers: { authorization } });
  if (answer.status !== 200) return answer.status;
  const { token } = (await answer.json()) as { token: string };
  const manifest = await fetch(`${url}/v2/${image}/manifests/1`, { headers: { authorization: `Bearer ${token}` } });
  return manifest.status;
}

test("a pod's service account token is traded for one that pulls, as long as the response says", async (t) => {
  const house = await openInstallation(t);
  const args = [`--registry=${house.host}`, `--url=${house.url}`];
  const annotated = { serviceAccountAnnotations: { "moorage.dev/identity": house.identity } };
  for (const [flags, more] of [
    [args, annotated],
    [[...args, `--identity=${house.identity}`], {}],
    // Who it is follows from issuer and subject.
    [args, {}],
    // An annotation of the service account goes before the node's setting.
    [[...args, `--identity=${"f".repeat(40)}`], annotated],
  ] as [string[], object][]) {
    const input = request(`${house.host}/acme/app:1`, { serviceAccountToken: await house.token(), ...more });
    const { code, stdout, stderr } = await runWith(PROGRAM, flags, input);
    assert.deepEqual([code, stderr], [0, ""], JSON.stringify(more));
    const response = JSON.parse(stdout) as Response;
    assert.deepEqual(
      [response.apiVersion, response.kind, response.cacheKeyType],
      [API_VERSION, "CredentialProviderResponse", "Registry"],
    );
    const [[registry, given] = ["", undefined]] = Object.entries(response.auth ?? {});
    assert.equal(registry, house.host);
    assert.ok(given);
    assert.equal(await pull(house, "acme/app", given.username, given.password), 200);
    const claims = JSON.parse(Buffer.from(given.password.split(".")[1] ?? "", "base64url").toString()) as {
      sub: string;
      aud: unknown;
      exp: number;
      iat: number;
    };
    assert.deepEqual([claims.sub, [claims.aud].flat()], [house.identity, [house.host]]);
    const [, seconds] = /^(\d+)s$/.exec(response.cacheDuration) ?? [];
    // Shorter than the token lives, by the minute that a pull may take.
    assert.ok(Number(seconds) > 0 && Number(seconds) <= claims.exp - claims.iat - 60, response.cacheDuration);
  }
});

test("the token can do nothing but pull, whatever the identity may", async (t) => {
  const house = await openInstallation(t);
  const { roles } = await house.api<{ roles: { uid: string }[] }>("/iam/v2/roles?name=owner");
  await house.api(`/iam/v2/roleBindings/${house.organization}`, {
    identityUid: house.identity,
    roleUid: roles[0]?.uid ?? "",
  });
  const input = request(`${house.host}/acme/app:1`, { serviceAccountToken: await house.token() });
  const { stdout } = await runWith(PROGRAM, [`--registry=${house.host}`, `--url=${house.url}`], input);
  const { password } = Object.values((JSON.parse(stdout) as Response).auth ?? {})[0] ?? assert.fail(stdout);
  const bearer = { authorization: `Bearer ${password}` };
  assert.equal((await fetch(`${house.url}/v2/acme/app/manifests/1`, { headers: bearer })).status, 200);
  const upload = await fetch(`${house.url}/v2/acme/app/blobs/uploads/`, { method: "POST", headers: bearer });
  assert.equal(upload.status, 403);
  assert.equal((await fetch(`${house.url}/iam/v2/identities`, { headers: bearer })).status, 401);
});

test("a node without service account tokens uses a token in a file; without any there are no credentials", async (t) => {
  const house = await openInstallation(t);
  const args = [`--registry=${house.host}`, `--url=${house.url}`, `--identity=${house.identity}`];
  const input = request(`${house.host}/acme/app:1`);
  const none = await runWith(PROGRAM, args, input, { MOORAGE_ID_TOKEN: await house.token() });
  assert.deepEqual([none.code, (JSON.parse(none.stdout) as Response).auth], [0, null]);
  assert.match(none.stderr, /^moorage-credential-kubelet: the request holds no serviceAccountToken/);
  const file = join(house.folder, "node-token");
  writeFileSync(file, await house.token(), { mode: 0o600 });
  const { stdout } = await runWith(PROGRAM, args, input, { MOORAGE_ID_TOKEN_FILE: file });
  const given = (JSON.parse(stdout) as Response).auth?.[house.host];
  assert.ok(given);
  assert.equal(await pull(house, "acme/app", given.username, given.password), 200);
});

test("a rejected token is an error with the reason, for the log of the kubelet, and shows no token", async (t) => {
  const house = await openInstallation(t);
  const args = [`--registry=${house.host}`, `--url=${house.url}`];
  const token = await house.token();
  for (const [more, words] of [
    [{ serviceAccountToken: JWT }, /gives no token: /],
    [
      { serviceAccountToken: token, serviceAccountAnnotations: { "moorage.dev/identity": "e".repeat(40) } },
      /gives no token: .*no identity .* accepts this token/,
    ],
  ] as [object, RegExp][]) {
    const { code, stdout, stderr } = await runWith(PROGRAM, args, request(`${house.host}/acme/app:1`, more));
    assert.deepEqual([code, stdout], [1, ""]);
    assert.match(stderr, words);
    assert.ok(!stderr.includes(token) && !stderr.includes(JWT));
  }
  const gone = [`--registry=${house.host}`, "--url=http://127.0.0.1:9"];
  const { code, stderr } = await runWith(PROGRAM, gone, request(`${house.host}/a/b`, { serviceAccountToken: JWT }));
  assert.equal(code, 1);
  assert.match(stderr, /cannot reach http:\/\/127\.0\.0\.1:9: /);
});

test("images of other registries get no credentials, and no server is asked", async () => {
  // Nothing listens there: a request would be an error.
  const args = ["--registry=registry.example.com", "--url=http://127.0.0.1:9"];
  for (const image of [
    "registry.example.org/acme/app",
    "registry.example.com:5000/acme/app",
    "registry.example.com.evil.example/acme/app",
    "evil.example/registry.example.com/acme/app",
    "registry.example.com@evil.example/acme/app",
    "registry.example.com",
    "busybox",
  ]) {
    const { code, stdout, stderr } = await runWith(PROGRAM, args, request(image, { serviceAccountToken: JWT }));
    assert.equal(code, 0, image);
    assert.deepEqual(JSON.parse(stdout), {
      apiVersion: API_VERSION,
      kind: "CredentialProviderResponse",
      cacheKeyType: "Registry",
      cacheDuration: "0s",
      auth: null,
    });
    assert.match(stderr, /registry\.example\.com is served here/, image);
  }
});

test("what is no request is an error that names the field, and nothing of it is shown", async () => {
  const args = ["--registry=registry.example.com"];
  const image = "registry.example.com/acme/app";
  for (const [input, words] of [
    ["", /the request is no JSON$/],
    [`{"serviceAccountToken": "hidden`, /the request is no JSON$/],
    ["[]", /no JSON object/],
    ["null", /no JSON object/],
    [JSON.stringify({ kind: "CredentialProviderRequest", image }), /apiVersion: must be credentialprovider/],
    [
      JSON.stringify({ apiVersion: "credentialprovider.kubelet.k8s.io/v2", kind: "CredentialProviderRequest", image }),
      /apiVersion: must be credentialprovider\.kubelet\.k8s\.io\/v1, not ".*v2"/,
    ],
    [JSON.stringify({ apiVersion: API_VERSION, kind: "CredentialProviderResponse", image }), /kind: must be/],
    [request(""), /image: is required/],
    [JSON.stringify({ apiVersion: API_VERSION, kind: "CredentialProviderRequest", image: 5 }), /image: is required/],
    [request(image, { serviceAccountToken: "hidden" }), /serviceAccountToken: is no JWT/],
    [request(image, { serviceAccountToken: { hidden: 1 } }), /serviceAccountToken: is no JWT/],
    [request(image, { serviceAccountToken: `a.${"b".repeat(20_000)}.c` }), /serviceAccountToken: is no JWT/],
    [
      request(image, { serviceAccountToken: JWT, serviceAccountAnnotations: { "moorage.dev/identity": "me" } }),
      /moorage\.dev\/identity must be the uid/,
    ],
    [request(image, { padding: "x".repeat(10_000_000) }), /the input is too long/],
  ] as [string, RegExp][]) {
    const { code, stdout, stderr } = await runWith(PROGRAM, args, input);
    assert.deepEqual([code, stdout], [1, ""], input.slice(0, 80));
    assert.match(stderr.trimEnd(), words);
    assert.equal(stderr.split("\n").length, 2, stderr);
    assert.ok(!stderr.includes("hidden"), stderr);
  }
  for (const [flags, words] of [
    [[], /--registry: is required/],
    [["--registry=a/b"], /--registry: is required/],
    [["--registry=a.example.com", "--url=ftp://a.example.com"], /--url: must be/],
    [["--registry=a.example.com", "--identity=me"], /--identity: must be/],
    [["--registry=a.example.com", "--other"], /--other/],
  ] as [string[], RegExp][]) {
    const { code, stderr } = await runWith(PROGRAM, flags, request("a.example.com/b"));
    assert.equal(code, 1);
    assert.match(stderr, words);
  }
});
