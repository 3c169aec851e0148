import assert from "node:assert/strict";
import { test } from "node:test";
import { ReposService } from "@moorage/api";
import { decodeJwt } from "jose";
import { openGrpc } from "../../../server/test/support/grpc.ts";
import { startInstallation } from "../../../server/test/support/installation.ts";
import { openIssuer } from "../../../server/test/support/issuer.ts";
import { jsonOf } from "../../../server/test/support/json-of.ts";

// A revocation counts from the next request on, at every handler, although answers are cached and tokens, and those
// exchanged for them, are still valid.
const CAPABILITIES = [
  "CAP_IAM_GROUPS_LIST",
  "CAP_REPO_LIST",
  "CAP_MANIFEST_LIST",
  "CAP_REPO_BLOBS_GET",
  "CAP_TAG_LIST",
];

interface Names {
  group: string;
  role: string;
  binding: string;
  identity: string;
  other: string;
}
const WITHOUT_RIGHTS = { rest: 404, grpc: 5, pull: 403, granted: 0, refresh: 200 };
const WITHOUT_IDENTITY = { rest: 401, grpc: 16, pull: 401, granted: 401, refresh: 401 };

test("a revoked right ends with the next request", async (t) => {
  const server = await startInstallation(t, { MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  const {
    api,
    ask,
    bootstrap: {
      organization: { uid: root, name: organization },
      baseUrl,
    },
  } = server;
  const grpc = openGrpc(server.url);
  const issuer = await openIssuer();
  t.after(async () => {
    grpc.close();
    await issuer.close();
  });
  let count = 0;

  /** A group with an image, and an identity that may only read it, with tokens of every kind. */
  const set = async () => {
    const name = `team-${(count += 1)}`;
    const image = `${organization}/${name}/app`;
    const { uid: group } = await api("POST", `/iam/v2/groups/${root}`, { name });
    assert.equal((await server.pushImage(image, "v1", name)).answer.status, 201);
    const repo = (await api("GET", `/registry/v2/repos?uidp.children_of=${group}`)).repos[0]?.uid ?? "";
    const { uid: role } = await api("POST", `/iam/v2/roles/${root}`, {
      name: `reader ${count}`,
      capabilities: CAPABILITIES,
    });
    const { uid: other } = await api("POST", `/iam/v2/identities/${root}`, { name: "other" });
    const { uid: identity } = await api("POST", `/iam/v2/identities/${root}`, {
      name: "reader",
      claimMatch: { issuer: issuer.url, subject: name },
    });
    const { uid: binding } = await api("POST", `/iam/v2/roleBindings/${group}`, {
      identityUid: identity,
      roleUid: role,
    });
    const now = Math.floor(Date.now() / 1000);
    const external = await issuer.sign({ iss: issuer.url, sub: name, aud: baseUrl, iat: now, exp: now + 300 });
    const { token, ...exchanged } = (await ask("GET", `/sts/exchange?identity=${identity}`, { token: external })).json;
    let { refreshToken } = exchanged;
    const pullToken = (await server.grantsOf([`repository:${image}:pull`], `any:${token}`)).token;
    /** The current answer of each handler. */
    const look = async () => {
      // First, since it writes: later answers are cached.
      const refreshed = await ask("GET", "/sts/exchange_refresh_token", { token: refreshToken });
      if (refreshed.status === 200)
        refreshToken = jsonOf<{ refreshToken: { token: string } }>(refreshed).refreshToken.token;
      const rest = (await ask("GET", `/registry/v2/repos/${repo}`, { token })).status;
      const { error } = await grpc.call(ReposService.method.getRepo, { uid: repo }, token);
      const pull = (await ask("GET", `/v2/${image}/manifests/v1`, { token: pullToken })).status;
      const login = await ask("GET", `/token?scope=repository:${image}:pull`, { basic: `any:${token}` });
      const granted = login.status === 200 ? (decodeJwt(login.json.token)["access"] as object[]).length : login.status;
      return {
        rest,
        grpc: (error as { code?: number } | undefined)?.code ?? 0,
        pull,
        granted,
        refresh: refreshed.status,
      };
    };
    return { look, names: { group, role, binding, identity, other } };
  };

  for (const [what, takeAway, expected] of [
    ["a binding deleted", ({ binding }) => api("DELETE", `/iam/v2/roleBindings/${binding}`), WITHOUT_RIGHTS],
    [
      "a binding of another identity now",
      ({ binding, other }) => api("PATCH", `/iam/v2/roleBindings/${binding}`, { identityUid: other }),
      WITHOUT_RIGHTS,
    ],
    [
      "a binding to a weaker role now",
      async ({ binding }) => {
        const { uid: roleUid } = await api("POST", `/iam/v2/roles/${root}`, {
          name: `weak ${count}`,
          capabilities: ["CAP_ADVISORIES_LIST"],
        });
        await api("PATCH", `/iam/v2/roleBindings/${binding}`, { roleUid });
      },
      WITHOUT_RIGHTS,
    ],
    [
      "a role narrowed",
      ({ role }) => api("PATCH", `/iam/v2/roles/${role}`, { capabilities: ["CAP_ADVISORIES_LIST"] }),
      WITHOUT_RIGHTS,
    ],
    ["an identity deleted", ({ identity }) => api("DELETE", `/iam/v2/identities/${identity}`), WITHOUT_IDENTITY],
    // Access tokens stay valid for their hour at most; exchanging them for new ones fails.
    [
      "an identity assumed otherwise now",
      async ({ identity }) => {
        await api("PATCH", `/iam/v2/identities/${identity}`, { claimMatch: { issuer: issuer.url, subject: "x" } });
      },
      { rest: 200, grpc: 0, pull: 200, granted: 1, refresh: 401 },
    ],
  ] as [string, (names: Names) => Promise<unknown>, object][]) {
    await t.test(what, async () => {
      const { look, names } = await set();
      const before = { rest: 200, grpc: 0, pull: 200, granted: 1, refresh: 200 };
      assert.deepEqual([await look(), await look()], [before, before]);
      await takeAway(names);
      assert.deepEqual([await look(), await look()], [expected, expected]);
    });
  }

  await t.test("a group deleted", async () => {
    const { uid: group } = await api("POST", `/iam/v2/groups/${root}`, { name: "brief" });
    const { identity } = await server.addIdentity(root, "of-root", "registry.pull");
    const { uid: second } = await api("POST", `/iam/v2/identities/${root}`, { name: "of group" });
    await api("POST", `/iam/v2/roleBindings/${group}`, {
      identityUid: second,
      roleUid: await server.roleUid("viewer"),
    });
    const looks = async (): Promise<number[]> =>
      Promise.all(
        [identity, second].map(
          async (uid) =>
            (await ask("GET", `/iam/v2/groups/${group}`, { token: await server.tokenFor("platform", uid) })).status,
        ),
      );
    assert.deepEqual(await looks(), [200, 200]);
    assert.equal((await ask("DELETE", `/iam/v2/groups/${group}`, { token: server.platform })).status, 200);
    assert.deepEqual(await looks(), [404, 404]);
  });
});
