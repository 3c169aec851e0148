import assert from "node:assert/strict";
import { test } from "node:test";
import { generateKeyPair, exportJWK, SignJWT } from "jose";
import { digestOf, OCI_IMAGE, OCI_INDEX, startInstallation } from "../../../server/test/support/installation.ts";

// Names, rights and images of the registry (docs/contract.md, "Resource names", "Capabilities and roles" and "Registry"
// to "Tag history"), against the whole server.

test("an image path follows renames, and reaches only groups and repos with valid image names", async (t) => {
  const {
    bootstrap: {
      organization: { uid: org },
    },
    ask,
    api,
    pushImage,
    registry,
  } = await startInstallation(t);
  const team = await api("POST", `/iam/v2/groups/${org}`, { name: "team-a" });
  const spaced = await api("POST", `/iam/v2/groups/${org}`, { name: "team b" });
  const image = await pushImage("acme/team-a/api", "v1", "one");
  assert.equal(image.answer.status, 201);
  assert.equal((await pushImage("acme/team%20b/api", "v1", "one")).answer.json.errors[0]?.code, "NAME_INVALID");
  assert.equal((await api("GET", `/registry/v2/repos?uidp.descendants_of=${spaced.uid}`)).repos.length, 0);

  await api("PATCH", `/iam/v2/groups/${team.uid.replaceAll("/", "%2F")}`, { name: "team-c" });
  assert.equal((await ask("GET", "/v2/acme/team-a/api/manifests/v1", { token: registry })).status, 404);
  assert.equal((await ask("GET", "/v2/acme/team-c/api/manifests/v1", { token: registry })).status, 200);
  const [repo] = (await api("GET", `/registry/v2/repos?uidp.descendants_of=${team.uid}`)).repos;
  await api("PATCH", `/registry/v2beta1/repos/${repo?.uid}`, { name: "api2" });
  assert.equal((await ask("GET", "/v2/acme/team-c/api/manifests/v1", { token: registry })).status, 404);
  const { history } = (await ask("GET", "/v2/acme/team-c/api2/_service/history/v1", { token: registry })).json;
  assert.deepEqual(
    history.map(({ digest }) => digest),
    [image.digest],
  );
});

test("a rejected push creates no repo and no group", async (t) => {
  const {
    bootstrap: {
      organization: { uid: org },
    },
    ask,
    api,
    pushManifest,
    pushImage,
    addIdentity,
    tokenFor,
    registry,
  } = await startInstallation(t);
  const absent = { mediaType: OCI_IMAGE, digest: digestOf("absent"), size: 6 };
  const incomplete = await pushManifest("acme/ghosts/image", "v1", {
    schemaVersion: 2,
    mediaType: OCI_IMAGE,
    config: absent,
    layers: [],
  } as { mediaType: string });
  assert.equal(incomplete.json.errors[0]?.code, "MANIFEST_BLOB_UNKNOWN");
  const wrong = await ask("POST", `/v2/acme/ghosts/blob/blobs/uploads/?digest=${absent.digest}`, {
    token: registry,
    bytes: "other",
    headers: { "content-type": "application/octet-stream" },
  });
  assert.equal(wrong.json.errors[0]?.code, "DIGEST_INVALID");
  const pusher = await tokenFor("registry", (await addIdentity(org, "reader", "viewer")).identity);
  assert.equal((await pushImage("acme/ghosts/denied", "v1", "one", { token: pusher })).answer.status, 403);
  assert.deepEqual((await api("GET", `/iam/v2/groups?uidp.descendants_of=${org}&name=ghosts`)).groups, []);
  assert.deepEqual((await api("GET", "/registry/v2/repos")).repos, []);
  assert.equal((await pushImage("acme/ghosts/image", "v1", "one")).answer.status, 201);
  assert.equal(
    (await pushImage("nowhere/image", "v1", "one")).answer.status,
    403,
    "a push never creates an organization",
  );
});

test("anonymous callers can pull the free tier of the public organization with all that belongs to it, and nothing else", async (t) => {
  const { ask, pushImage, pushBlob, pushManifest, registry, grantsOf } = await startInstallation(t);
  const old = await pushImage("public/app", "latest", "old");
  await pushImage("public/app", "latest", "new");
  const other = await pushImage("public/app", "v1", "other");
  await pushImage("acme/app", "latest", "private");
  const platform = await pushImage("public/app", "platform", "platform");
  await ask("DELETE", "/v2/public/app/manifests/platform", { token: registry });
  const descriptor = {
    mediaType: OCI_IMAGE,
    digest: platform.digest,
    size: platform.size,
    platform: { architecture: "amd64", os: "linux" },
  };
  await pushManifest("public/app", "latest-dev", {
    schemaVersion: 2,
    mediaType: OCI_INDEX,
    manifests: [descriptor],
  } as { mediaType: string });
  const config = {
    mediaType: "application/vnd.oci.empty.v1+json",
    digest: await pushBlob("public/app", "{}"),
    size: 2,
  };
  const signature = {
    schemaVersion: 2,
    mediaType: OCI_IMAGE,
    artifactType: "example/signature",
    config,
    layers: [],
    subject: { mediaType: OCI_IMAGE, digest: old.digest, size: old.size },
  };
  assert.equal((await pushManifest("public/app", digestOf(JSON.stringify(signature)), signature)).status, 201);

  const { token, access } = await grantsOf(["repository:public/app:pull,push,delete", "repository:acme/app:pull"]);
  assert.deepEqual(access, { "public/app": ["pull"] });
  const open = [
    "manifests/latest",
    "manifests/latest-dev",
    `manifests/${old.digest}`,
    `blobs/${old.layer}`,
    `blobs/${old.config}`,
    `manifests/${platform.digest}`,
    `blobs/${platform.layer}`,
    `referrers/${old.digest}`,
    `manifests/${digestOf(JSON.stringify(signature))}`,
    "_service/history/latest",
  ];
  for (const path of open) assert.equal((await ask("GET", `/v2/public/app/${path}`, { token })).status, 200, path);
  const shut = [
    "manifests/v1",
    `manifests/${other.digest}`,
    `blobs/${other.layer}`,
    `referrers/${other.digest}`,
    "_service/history/v1",
    "tags/list",
  ];
  for (const path of shut) assert.equal((await ask("GET", `/v2/public/app/${path}`, { token })).status, 403, path);
  assert.equal(
    (await ask("POST", "/v2/public/app/blobs/uploads/", { token })).status,
    401,
    "challenged for a token that covers more",
  );
  assert.equal((await ask("DELETE", "/v2/public/app/manifests/latest", { token })).status, 401);
  assert.equal((await ask("GET", "/v2/acme/app/manifests/latest", { token })).status, 403);
  assert.equal((await ask("GET", "/v2/public/app/manifests/latest")).status, 401);
});

test("the token endpoint takes every kind of credential, and none of a deleted identity", async (t) => {
  const {
    bootstrap: {
      organization: { uid: org },
    },
    ask,
    api,
    pushImage,
    roleUid,
    grantsOf,
    platform,
    registry,
    config,
  } = await startInstallation(t);
  await pushImage("acme/app", "v1", "one");
  const { privateKey, publicKey } = await generateKeyPair("ES256");
  const keys = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: "k", alg: "ES256", use: "sig" }] });
  const expirationTime = new Date(Date.now() + 86_400_000).toISOString();
  const staticKeys = {
    issuer: "https://ci.example",
    subject: "ci",
    issuerKeys: keys,
    expirationTime,
    audiences: ["moorage"],
  };
  const { uid } = await api("POST", `/iam/v2/identities/${org}`, { name: "ci", staticKeys });
  const binding = await api("POST", `/iam/v2/roleBindings/${org}`, {
    identityUid: uid,
    roleUid: await roleUid("registry.pull"),
  });
  const pull = await new SignJWT({})
    .setIssuer("https://ci.example")
    .setSubject("ci")
    .setAudience("moorage")
    .setIssuedAt()
    .setExpirationTime("1h")
    .setProtectedHeader({ alg: "ES256", kid: "k" })
    .sign(privateKey);
  const { json: exchanged } = await ask("GET", `/sts/exchange?identity=${encodeURIComponent(uid)}`, { token: pull });

  const scopes = ["repository:acme/app:pull,push"];
  for (const secret of [
    `${uid}:${pull}`,
    `_token:${pull}`,
    `x:${exchanged.token}`,
    `x:${exchanged.refreshToken}`,
    `x:${exchanged.refreshToken}`,
  ]) {
    assert.deepEqual((await grantsOf(scopes, secret)).access, { "acme/app": ["pull"] });
  }
  assert.deepEqual((await grantsOf(scopes, `x:${platform}`)).access, { "acme/app": ["pull", "push"] });
  const { token } = await grantsOf(scopes, `x:${pull}`);
  for (const secret of ["x:bad", `x:${token}`, "x:"])
    assert.equal((await ask("GET", "/token", { basic: secret })).status, 401, "not a credential");
  for (const bearer of [token, registry])
    assert.equal(
      (await ask("GET", "/iam/v2/groups", { token: bearer })).status,
      401,
      "a registry token is not valid for the platform API",
    );

  const manifest = "/v2/acme/app/manifests/v1";
  const asItIs = (await ask("GET", `/sts/exchange?aud=${config.registryAudience}`, { token: exchanged.token })).json
    .token;
  for (const bearer of [token, asItIs]) assert.equal((await ask("GET", manifest, { token: bearer })).status, 200);
  await api("DELETE", `/iam/v2/roleBindings/${binding.uid}`);
  for (const bearer of [token, asItIs])
    assert.equal((await ask("GET", manifest, { token: bearer })).status, 403, "the rights were removed");
  await api("DELETE", `/iam/v2/identities/${uid}`);
  for (const bearer of [token, asItIs])
    assert.equal((await ask("GET", manifest, { token: bearer })).status, 401, "the identity is deleted");
  assert.equal((await ask("GET", "/iam/v2/groups", { token: exchanged.token })).status, 401);
  assert.equal((await ask("GET", "/token", { basic: `x:${exchanged.refreshToken}` })).status, 401);
});

test("a token narrowed to capabilities or groups is narrowed at the registry too", async (t) => {
  const {
    bootstrap: {
      organization: { uid: org },
    },
    ask,
    api,
    pushImage,
    platform,
    config,
  } = await startInstallation(t);
  await pushImage("acme/app", "v1", "one");
  await pushImage("acme/team/app", "v1", "one");
  const [team] = (await api("GET", "/iam/v2/groups?name=team")).groups;
  const narrowed = async (query: string): Promise<string> =>
    (await ask("GET", `/sts/exchange?aud=${config.registryAudience}&${query}`, { token: platform })).json.token;
  const [history, inTeam] = [await narrowed("cap=CAP_TAG_LIST"), await narrowed(`scopes=${team?.uid}`)];
  assert.equal((await ask("GET", "/v2/acme/app/_service/history/v1", { token: history })).status, 200);
  assert.equal((await ask("GET", "/v2/acme/app/manifests/v1", { token: history })).status, 403);
  assert.equal((await ask("GET", "/v2/acme/team/app/manifests/v1", { token: inTeam })).status, 200);
  assert.equal((await ask("GET", "/v2/acme/app/manifests/v1", { token: inTeam })).status, 403);
  // A narrowed token cannot create organizations either, though its identity may.
  for (const query of ["cap=CAP_REPO_LIST", `scopes=${org}`]) {
    const { token } = (await ask("GET", `/sts/exchange?${query}`, { token: platform })).json;
    assert.equal((await ask("POST", "/iam/v2/groups", { token, json: { name: "sneaky" } })).status, 403);
  }
});

test("an identity of a subgroup has no access to the organization's own images", async (t) => {
  const {
    ask,
    api,
    pushImage,
    addIdentity,
    tokenFor,
    platform,
    bootstrap: {
      organization: { uid: org },
    },
    roleUid,
  } = await startInstallation(t);
  await pushImage("acme/app", "v1", "one");
  await pushImage("acme/team/app", "v1", "one");
  const [team] = (await api("GET", "/iam/v2/groups?name=team")).groups;
  const { identity } = await addIdentity(team?.uid ?? "", "robot", "viewer");
  const json = { identityUid: identity, roleUid: await roleUid("viewer") };
  assert.equal((await ask("POST", `/iam/v2/roleBindings/${org}`, { token: platform, json })).status, 400);
  const token = await tokenFor("registry", identity);
  assert.equal((await ask("GET", "/v2/acme/team/app/manifests/v1", { token })).status, 200);
  for (const path of ["manifests/v1", "_service/history/v1", "tags/list"])
    assert.equal((await ask("GET", `/v2/acme/app/${path}`, { token })).status, 403, path);
  const { repos } = (await ask("GET", "/registry/v2/repos", { token: await tokenFor("platform", identity) })).json;
  assert.deepEqual(
    repos.map(({ uid }) => uid.split("/").length),
    [3],
  );
});

test("the architectures and sizes of pushed images", async (t) => {
  const { ask, api, pushImage, pushManifest, platform } = await startInstallation(t);
  const [one, two] = [
    await pushImage("acme/app", "one", "one"),
    await pushImage("acme/app", "two", "twofold", { architecture: "arm64" }),
  ];
  const of = (image: { digest: string; size: number }, platformOf: object): object => ({
    mediaType: OCI_IMAGE,
    digest: image.digest,
    size: image.size,
    platform: platformOf,
  });
  const index = {
    schemaVersion: 2,
    mediaType: OCI_INDEX,
    manifests: [
      of(one, { architecture: "amd64", os: "linux" }),
      of(two, { architecture: "arm64", variant: "v8", os: "linux" }),
    ],
  };
  await pushManifest("acme/app", "all", index);
  const [repo] = (await api("GET", "/registry/v2/repos?name=app")).repos;
  const base = `/registry/v2/repos/${repo?.uid}/digests/${digestOf(JSON.stringify(index))}`;
  assert.deepEqual((await api("GET", `${base}/architectures`)).architectures, ["amd64", "arm64/v8"]);
  const bytes = (seed: string, architecture: string): string =>
    String(JSON.stringify({ architecture, os: "linux", seed }).length + `layer ${seed}`.length);
  assert.equal((await api("GET", `${base}/size?architecture=amd64`)).size, bytes("one", "amd64"));
  for (const name of ["arm64", "arm64/v8"])
    assert.equal((await api("GET", `${base}/size?architecture=${name}`)).size, bytes("twofold", "arm64"), name);
  assert.equal((await ask("GET", `${base}/size?architecture=s390x`, { token: platform })).status, 400);
  assert.equal(
    (await ask("GET", `/registry/v2/repos/${repo?.uid}/digests/${digestOf("no")}/size`, { token: platform })).status,
    404,
  );
});

test("the rights of the built-in roles at the registry", async (t) => {
  const {
    bootstrap: {
      organization: { uid: org },
    },
    ask,
    pushImage,
    addIdentity,
    tokenFor,
  } = await startInstallation(t);
  // Pull, list tags, read the history, move a tag, create a repo, create a subgroup, delete.
  const roles: Record<
    string,
    [pull: number, tags: number, history: number, move: number, repo: number, subgroup: number, remove: number]
  > = {
    "registry.pull": [200, 200, 200, 403, 403, 403, 403],
    "registry.push": [200, 200, 200, 201, 201, 403, 403],
    viewer: [200, 200, 200, 403, 403, 403, 403],
    console_viewer: [403, 200, 200, 403, 403, 403, 403],
    editor: [200, 200, 200, 201, 201, 403, 202],
    owner: [200, 200, 200, 201, 201, 201, 202],
  };
  for (const [role, expected] of Object.entries(roles)) {
    const name = role.replaceAll(/[._]/g, "-");
    await pushImage("acme/app", "v1", "seed");
    const token = await tokenFor("registry", (await addIdentity(org, name, role)).identity);
    const read = async (path: string): Promise<number> => (await ask("GET", `/v2/acme/app/${path}`, { token })).status;
    const push = async (image: string): Promise<number> =>
      (await pushImage(image, "v1", role, { token })).answer.status;
    const found = [
      await read("manifests/v1"),
      await read("tags/list"),
      await read("_service/history/v1"),
      await push("acme/app"),
      await push(`acme/${name}`),
      await push(`acme/group-${name}/image`),
      (await ask("DELETE", "/v2/acme/app/manifests/v1", { token })).status,
    ];
    assert.deepEqual(found, expected, role);
  }
});
