import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { Capability } from "@moorage/api";
import { newUid } from "../../../kernel/src/lib/uid.ts";
import type { Database } from "../../../kernel/src/store/index.ts";
import { insertIdentity, insertRole } from "../../../server/test/support/identities.ts";
import { type Answer, anyDigest, OCI_IMAGE, startRegistry } from "../../../server/test/support/registry-server.ts";

// The first push of somebody who does not know yet that names begin with an organization: what each client asks until
// it gives up, and what it then prints. Of an answer to a HEAD no client has more than the status.

/** What a client asks before it uploads. `pull`: how it orders the actions of its scope. */
interface Client {
  actions: string;
  form?: "POST";
  looks: (digest: string) => string[];
  upload: (digest: string) => string;
}

const blob = (digest: string): string => `blobs/${digest}`;
const manifest = (digest: string): string => `manifests/${digest}`;
const CLIENTS: Record<string, Client> = {
  // Goes on after any answer to its HEAD.
  docker: { actions: "pull,push", looks: (digest) => [blob(digest)], upload: () => "blobs/uploads/" },
  // Ends with "unexpected status from HEAD request" after anything but 200 and 404.
  "containerd and buildkit": {
    actions: "pull,push",
    form: "POST",
    looks: (digest) => [blob(digest), manifest(digest)],
    upload: () => "blobs/uploads/",
  },
  // Ends with "checking whether a blob … exists" after anything but 200 and 404.
  "skopeo, podman and buildah": {
    actions: "pull,push",
    looks: (digest) => [blob(digest)],
    upload: () => "blobs/uploads/",
  },
  // Ends with "HEAD …: unexpected status code" after anything but 200 and 404.
  crane: {
    actions: "push,pull",
    looks: (digest) => [blob(digest), manifest("1.0")],
    upload: (digest) => `blobs/uploads/?from=acme%2Fbase&mount=${encodeURIComponent(digest)}&origin=registry.example`,
  },
  // Looks at the manifest first, and ends after anything but 200 and 404.
  oras: {
    actions: "pull,push",
    looks: (digest) => [manifest(digest), blob(digest)],
    upload: () => "blobs/uploads/",
  },
  // Goes on after any answer to its HEAD.
  regctl: { actions: "pull,push", looks: (digest) => [manifest("1.0"), blob(digest)], upload: () => "blobs/uploads/" },
};

async function start(t: TestContext) {
  const registry = await startRegistry(t);
  const { ask, mint, baseUrl, db } = registry;
  const basicOf = async (identity: string): Promise<string> =>
    `Basic ${Buffer.from(`any:${await mint(identity, { audiences: [baseUrl] })}`).toString("base64")}`;
  const tokenOf = async (identity: string, scope: string, form?: "POST"): Promise<string> => {
    const password = await mint(identity, { audiences: [baseUrl] });
    const parameters = new URLSearchParams({ service: registry.host, scope, ...(form && { client_id: "containerd" }) });
    const answer =
      form === "POST"
        ? await ask("/token", {
            method: "POST",
            headers: { "content-type": "application/x-www-form-urlencoded" },
            body: `${parameters.toString()}&${new URLSearchParams({ grant_type: "password", username: "any", password }).toString()}`,
          })
        : await ask(`/token?account=any&${parameters.toString()}`, {
            headers: { authorization: await basicOf(identity) },
          });
    assert.equal(answer.status, 200, answer.text);
    return answer.json.token;
  };
  /** Plays the client's push to the name, and answers what it prints. */
  const push = async (
    { actions, form, looks, upload }: Client,
    name: string,
    identity: string,
  ): Promise<{ answer: Answer; token: string }> => {
    const digest = anyDigest();
    for (const path of looks(digest)) {
      const challenged = await ask(`/v2/${name}/${path}`, { method: "HEAD" });
      assert.equal(challenged.status, 401);
    }
    const token = await tokenOf(identity, `repository:${name}:${actions}`, form);
    for (const path of looks(digest)) {
      const looked = await ask(`/v2/${name}/${path}`, { method: "HEAD", token });
      assert.deepEqual([looked.status, looked.text], [404, ""], path);
    }
    return { answer: await ask(`/v2/${name}/${upload(digest)}`, { method: "POST", token }), token };
  };
  return {
    ...registry,
    basicOf,
    tokenOf,
    push,
    addGroup: (parent: string, name: string) => addGroup(db, parent, name),
  };
}

async function addGroup(db: Database, parent: string, name: string): Promise<string> {
  const uid = newUid(parent);
  const times = { create_time: Date.now(), update_time: Date.now() };
  const rest = { description: "", verified: 0, kind: 0, status: 0, resource_limits: "" };
  await db
    .insertInto("groups")
    .values({ uid, parent, name, ...rest, ...times })
    .execute();
  return uid;
}

function messageOf({ json }: Answer): string {
  assert.equal(json.errors.length, 1);
  return json.errors[0]?.message ?? "";
}

test("each client's first push ends with a body that says that names begin with an organization, and with which", async (t) => {
  const { push, pusher, addGroup } = await start(t);
  await addGroup("", "globex");
  for (const [client, sequence] of Object.entries(CLIENTS)) {
    const messages: string[] = [];
    for (const name of ["myapp", "nowhere/app", "globex/app"]) {
      const { answer } = await push(sequence, name, pusher);
      assert.deepEqual([answer.status, answer.json.errors[0]?.code], [403, "DENIED"], client);
      const message = messageOf(answer);
      const image = name.replace(/.*\//, "");
      assert.ok(message.includes("CAP_MANIFEST_CREATE"), message);
      const hint = `. Image names begin with an organization, as in acme/${image}; this identity may push to: acme`;
      assert.ok(message.endsWith(hint), `${client}: ${message}`);
      const { detail } = answer.json.errors[0] as { detail: { pushTo: string[]; more: number } };
      assert.deepEqual([detail.pushTo, detail.more], [["acme"], 0]);
      messages.push(message.replaceAll(name, "NAME").replaceAll(`acme/${image}`, ""));
    }
    assert.equal(messages[1], messages[2], "an organization without rights is like one that is not there");
  }
});

test("credentials that are sent without the token endpoint get the same answers", async (t) => {
  const { ask, mint, basicOf, pusher } = await start(t);
  const digest = anyDigest();
  for (const headers of [{ authorization: await basicOf(pusher) }, { authorization: `Bearer ${await mint(pusher)}` }])
    for (const name of ["myapp", "nowhere/app"]) {
      for (const path of [blob(digest), manifest(digest), manifest("1.0")])
        assert.equal((await ask(`/v2/${name}/${path}`, { method: "HEAD", headers })).status, 404, path);
      const answers = [
        await ask(`/v2/${name}/blobs/uploads/`, { method: "POST", headers }),
        await ask(`/v2/${name}/blobs/uploads/?digest=${digest}`, { method: "POST", headers, body: "x" }),
        await ask(`/v2/${name}/blobs/uploads/${"0".repeat(32)}`, { method: "PATCH", headers, body: "x" }),
        await ask(`/v2/${name}/manifests/1.0`, {
          method: "PUT",
          headers: { ...headers, "content-type": OCI_IMAGE },
          body: JSON.stringify({
            schemaVersion: 2,
            mediaType: OCI_IMAGE,
            config: { mediaType: "a/b", digest, size: 1 },
            layers: [],
          }),
        }),
      ];
      for (const answer of answers) {
        assert.equal(answer.status, 403, answer.text);
        assert.match(messageOf(answer), /Image names begin with an organization, .* may push to: acme$/);
      }
    }
});

test("ten groups are named at the most, by their paths, and only those that the caller may push to", async (t) => {
  const { push, db, acme, stranger, viewer, addGroup } = await start(t);
  const role = await insertRole(db, "pushes", [Capability.CAP_MANIFEST_CREATE, Capability.CAP_REPO_CREATE]);
  const readers = await insertRole(db, "reads", [Capability.CAP_MANIFEST_LIST, Capability.CAP_REPO_BLOBS_GET]);
  const client = CLIENTS["docker"] as Client;
  const hintFor = async (bindings: [string, string][]): Promise<string> => {
    const identity = await insertIdentity(db, `id-${newUid("").slice(0, 8)}`, bindings);
    return messageOf((await push(client, "myapp", identity)).answer).split("an organization")[1] ?? "";
  };
  const secret = await addGroup("", "secret");
  const [team, spaced] = [await addGroup(acme, "team"), await addGroup(acme, "team b")];
  assert.equal(
    await hintFor([
      [team, role],
      [secret, readers],
    ]),
    ", as in acme/team/myapp; this identity may push to: acme/team",
  );
  assert.equal(await hintFor([[spaced, role]]), "; this identity may push to none", "its name is in no image's path");
  for (const identity of [stranger, viewer])
    assert.match(messageOf((await push(client, "myapp", identity)).answer), /; this identity may push to none$/);
  const many: [string, string][] = [];
  for (let n = 10; n < 23; n += 1) many.push([await addGroup("", `org${n}`), role]);
  const names = Array.from({ length: 10 }, (_, at) => `org${at + 10}`).join(", ");
  assert.equal(await hintFor(many), `, as in org10/myapp; this identity may push to: ${names}, and 3 more`);
});

test("a viewer who pushes to an image that is there reads why, and a token that may push replaces a narrow one", async (t) => {
  const { ask, tokenOf, viewer, pusher, pushBlob } = await start(t);
  const digest = await pushBlob("acme/app", "content");
  const token = await tokenOf(viewer, "repository:acme/app:pull,push");
  assert.equal((await ask(`/v2/acme/app/blobs/${digest}`, { method: "HEAD", token })).status, 200);
  const denied = await ask("/v2/acme/app/blobs/uploads/", { method: "POST", token });
  assert.equal(denied.status, 401);
  assert.match(messageOf(denied), /CAP_MANIFEST_CREATE on a group of that path\. .*; this identity may push to none$/);
  const narrow = await tokenOf(pusher, "repository:acme/app:pull");
  const challenged = await ask("/v2/acme/app/blobs/uploads/", { method: "POST", token: narrow });
  assert.equal(challenged.status, 401);
  assert.match(
    challenged.headers.get("www-authenticate") ?? "",
    /scope="repository:acme\/app:pull,push",error="insufficient_scope",error_description="the token does not cover/,
  );
  // Docker shows these words, and none of the body.
  assert.match(denied.headers.get("www-authenticate") ?? "", /,error_description="[^"]*CAP_MANIFEST_CREATE[^"]*none"$/);
});

test("without a log-in the body says to log in and how names begin, and names no organization", async (t) => {
  const { ask } = await start(t);
  const bare = await ask("/v2/myapp/blobs/uploads/", { method: "POST" });
  assert.equal(bare.status, 401);
  assert.match(
    messageOf(bare),
    /a registry token is required\. Image names begin with an organization, as in ORGANIZATION\/myapp$/,
  );
  const { json } = await ask("/token?scope=repository:myapp:pull,push");
  const looked = await ask(`/v2/myapp/${blob(anyDigest())}`, { method: "HEAD", token: json.token });
  assert.equal(looked.status, 404);
  const denied = await ask("/v2/myapp/blobs/uploads/", { method: "POST", token: json.token });
  assert.equal(denied.status, 403);
  assert.match(
    messageOf(denied),
    /log in first; .*\. Image names begin with an organization, as in ORGANIZATION\/myapp$/,
  );
});

test("who only pulls gets the same statuses as before, and a token of another image names no organizations", async (t) => {
  const { ask, tokenOf, pusher, stranger, pushBlob } = await start(t);
  const digest = await pushBlob("acme/app", "content");
  const pulls = await tokenOf(stranger, "repository:acme/app:pull");
  for (const path of [blob(digest), manifest("1.0")])
    assert.equal((await ask(`/v2/acme/app/${path}`, { method: "HEAD", token: pulls })).status, 403, path);
  const named = await ask("/v2/myapp/manifests/1.0", { token: await tokenOf(pusher, "repository:myapp:pull") });
  assert.equal(named.status, 403);
  assert.match(messageOf(named), /Image names begin with an organization, as in ORGANIZATION\/myapp$/);
  const other = await tokenOf(pusher, "repository:acme/other:pull,push");
  const denied = await ask("/v2/myapp/blobs/uploads/", { method: "POST", token: other });
  assert.equal(denied.status, 403);
  assert.match(messageOf(denied), /covers another repository: .* as in ORGANIZATION\/myapp$/);
});

test("a narrowed token names no more than it reaches", async (t) => {
  const { ask, mint, owner, acme, addGroup } = await start(t);
  const team = await addGroup(acme, "team");
  const post = async (change: object): Promise<string> =>
    messageOf(await ask("/v2/myapp/blobs/uploads/", { method: "POST", token: await mint(owner, change) }));
  assert.match(await post({}), /may push to: acme, public$/);
  assert.match(await post({ scopes: [team] }), /may push to: acme\/team$/);
  assert.match(await post({ capabilities: [Capability.CAP_MANIFEST_LIST] }), /may push to none$/);
});
